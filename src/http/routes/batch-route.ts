/** `matters/batch`, and its dry run `verify/batch`: lines come in, a result of each goes out in their order. */
import type { Context, Middleware } from 'koa';
import type { BatchResult, VerifiedLine } from '../../protocol/batch';
import { BatchBody, type BatchLimits } from '../../protocol/batch-lines';
import { renderAll, renderWarnings } from '../../protocol/envelope';
import { PushError } from '../../protocol/errors';
import type { Language } from '../../protocol/language';
import { BATCH_PATH, pushPath } from '../../protocol/paths';
import { databaseCall } from '../../pushes/availability';
import { readPushHeaders } from '../../pushes/push-request';
import type { PushResult } from '../../pushes/push-result';
import { type BatchReader, checkBatchHeaders, checkLines } from '../../pushes/read-batch';
import { type LineResult, type SubmitBatch, successOf } from '../../pushes/submit-batch';
import { arrivalOf } from '../middleware/koa-in-flight';
import type { StreamedRoute } from '../middleware/koa-streamed-hmac-auth';
import type { RequestState } from '../request-state';
import type { Listeners } from '../tell-rejection';

type BatchContext = Parameters<Middleware<RequestState>>[0];

/** Milliseconds in which a batch must arrive. */
const BODY_TIMEOUT = 30_000;
/** Bytes that a piece takes beside its content. */
const PER_PIECE = 256;

/** Bounds of a batch. */
export interface BatchBounds extends BatchLimits {
  /** BATCH_BODY_LIMIT, bytes. */
  readonly batchBytes: number;
}

/**
 * How a batch is received: into `ctx.state.batch`, its signature verified over the bytes as they come.
 *
 * @param operation stands in the push log where the request is rejected
 */
export function batchBody(
  operation: string,
  { batchBytes, ...limits }: BatchBounds,
): StreamedRoute {
  const begin = ({ req, state }: Context) => {
    const body = new BatchBody(limits);
    const arrival = arrivalOf(req);
    state.batch = body;
    return (chunk: Uint8Array) => {
      arrival?.received(chunk.length + PER_PIECE);
      body.take(chunk);
    };
  };
  return { operation, bodyLimit: batchBytes, bodyTimeout: BODY_TIMEOUT, begin };
}

/** The handler of `matters/batch`. Each of its lines is counted as a push. */
export function batchRoute(
  submit: SubmitBatch,
  listeners: Omit<Listeners, 'logger'>,
): Middleware<RequestState> {
  return async (ctx) => {
    const { req, state } = ctx;
    arrivalOf(req)?.complete();
    const results = await submit(requestOf(ctx));
    countLines(listeners, ctx, results);
    const rendered = results.map((one) => renderResult(one, state.language));
    leave(state, rendered, longestWait(results));
  };
}

/** As if each had come by itself, those that ended alike at once. */
function countLines(
  { clock, metrics, flow }: Omit<Listeners, 'logger'>,
  { state: { clientId, receivedAt } }: BatchContext,
  results: readonly LineResult[],
): void {
  const ms = clock() - receivedAt;
  for (const { operation, end, count } of alike(results)) {
    metrics?.lines(operation, count, end);
    const push = { path: operation ? pushPath(operation) : BATCH_PATH, clientId, ms };
    if (end instanceof PushError) flow?.rejected(push, end, count);
    else flow?.answered(push, end, count);
  }
}

/** @returns the lines that ended alike, once each with how many they are */
function alike(results: readonly LineResult[]) {
  const groups = new Map<string, LineGroup>();
  for (const { operation, result } of results) {
    const end = result instanceof PushError ? result : successOf(result);
    const name = `${operation} ${end instanceof PushError ? end.reason : end}`;
    const group = groups.get(name);
    if (group) group.count += 1;
    else groups.set(name, { operation, end, count: 1 });
  }
  return groups.values();
}

interface LineGroup extends Pick<LineResult, 'operation'> {
  readonly end: PushError | ReturnType<typeof successOf>;
  count: number;
}

function requestOf({ req, path, state }: BatchContext): Parameters<SubmitBatch>[0] {
  const { signed, batch, stages } = state;
  const rawBody = batch.whole();
  const digest = batch.isTooLong ? state.digest() : undefined;
  return {
    ...signed,
    ...readPushHeaders(req.rawHeaders),
    path,
    rawBody,
    digest,
    stages,
    readLines: () => {
      const lines = batch.linesOf(rawBody);
      // Until they are answered.
      state.lineCounts = { total: lines.length, failed: lines.length };
      return lines;
    },
    admitted: (rate) => {
      state.rate = rate;
    },
  };
}

/** The handler of `verify/batch`: each line as far as its validation, by the same code, and no further. */
export function verifyBatchRoute(reader: BatchReader, timeout: number): Middleware<RequestState> {
  return async ({ req, state }) => {
    arrivalOf(req)?.complete();
    const { batch, language } = state;
    const headers = readPushHeaders(req.rawHeaders);
    checkBatchHeaders(headers);
    const lines = batch.linesOf(batch.whole());
    const checked = await databaseCall(checkLines(reader, lines, headers), timeout);
    const found = checked.map(({ line, read, checked: result }): VerifiedLine => {
      const named = result instanceof PushError ? read?.body.externalId : result.externalId;
      const externalId = typeof named === 'string' ? named : null;
      return { line: line.number, ...told(result, language), externalId };
    });
    leave(state, found);
  };
}

function renderResult(one: LineResult, language: Language): BatchResult {
  const { line, requestId, externalId = null, result } = one;
  const about = { line, ...told(resultOf(result), language), requestId, externalId };
  if (result instanceof PushError) return about;
  const { matterId, outcome } = result.data;
  return { ...about, matterId, outcome, ...(result.replayed && { replayed: true as const }) };
}

const resultOf = (result: PushResult | PushError) =>
  result instanceof PushError ? result : { warnings: result.data.warnings ?? [] };

/** What is told of a line as of a push of its own. */
function told(result: PushError | Pick<PushError, 'warnings'>, language: Language) {
  const warnings = result.warnings.length > 0 && {
    warnings: renderWarnings(result.warnings, language),
  };
  if (!(result instanceof PushError)) return { code: 0, message: 'success', ...warnings };
  const { code, text, reason, retryable, errors } = result;
  return {
    code,
    message: text[language],
    reason,
    retryable,
    ...(errors && { errors: renderAll(errors, language) }),
    ...warnings,
  };
}

/** @returns seconds until all that may succeed later may be sent again; as a push alone is told, if at all */
function longestWait(results: readonly LineResult[]): number | undefined {
  const waits = results.flatMap(({ result }) =>
    result instanceof PushError && result.retryable ? (result.retryAfter ?? []) : [],
  );
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

/** The answer: a success only where every line is one. */
function leave(
  state: RequestState,
  results: BatchResult[] | VerifiedLine[],
  retryAfter?: number,
): void {
  const total = results.length;
  const succeeded = results.filter(({ code }) => code === 0).length;
  const failed = total - succeeded;
  const isRetryable = results.some(({ retryable }) => retryable === true);
  state.lineCounts = { total, failed };
  state.data = { total, succeeded, failed, results };
  if (failed > 0) state.partial = { isRetryable, retryAfter };
}
