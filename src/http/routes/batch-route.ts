/** `matters/batch` and its dry run `verify/batch`: a result of each line, in their order. */
import type { Middleware } from 'koa';
import type { BatchResult, VerifiedLine } from '../../protocol/batch';
import { type BatchLimits, readBatchLines } from '../../protocol/batch-lines';
import { renderAll, renderWarnings } from '../../protocol/envelope';
import { PushError } from '../../protocol/errors';
import type { Language } from '../../protocol/language';
import { BATCH_PATH, pushPath } from '../../protocol/paths';
import { databaseCall } from '../../pushes/availability';
import { readPushHeaders } from '../../pushes/push-request';
import type { PushResult } from '../../pushes/push-result';
import { type BatchReader, checkBatchHeaders, checkLines } from '../../pushes/read-batch';
import { type LineResult, type SubmitBatch, successOf } from '../../pushes/submit-batch';
import type { RequestState } from '../request-state';
import type { Listeners } from '../tell-rejection';

type BatchContext = Parameters<Middleware<RequestState>>[0];

/** The handler of `matters/batch`. Each of its lines is counted as a push. */
export function batchRoute(
  submit: SubmitBatch,
  limits: BatchLimits,
  listeners: Omit<Listeners, 'logger'>,
): Middleware<RequestState> {
  return async (ctx) => {
    const { state } = ctx;
    const results = await submit(requestOf(ctx, limits));
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

function requestOf(
  { req, path, state }: BatchContext,
  limits: BatchLimits,
): Parameters<SubmitBatch>[0] {
  const { signed, rawBody, digest, stages } = state;
  return {
    ...signed,
    ...readPushHeaders(req.rawHeaders),
    path,
    rawBody,
    digest,
    stages,
    readLines: () => {
      const lines = readBatchLines(rawBody, limits);
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
    const { rawBody, language } = state;
    const headers = readPushHeaders(req.rawHeaders);
    checkBatchHeaders(headers);
    const lines = readBatchLines(rawBody, reader.limits);
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
