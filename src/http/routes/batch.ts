/** The handlers of `matters/batch` and of its dry run `verify/batch`. */
import type { Middleware } from 'koa';
import { readPushHeaders } from '../../auth/auth-headers';
import { runInSlices } from '../../concurrency/turns';
import type { BatchResult, VerifiedLine } from '../../protocol/batch';
import { type BatchLimits, readBatchLines } from '../../protocol/batch-lines';
import { renderAll, renderWarnings } from '../../protocol/envelope';
import { PushError } from '../../protocol/errors';
import type { Language } from '../../protocol/language';
import { BATCH } from '../../protocol/paths';
import {
  type BatchReader,
  checkBatchHeaders,
  checkLines,
  databaseCall,
  type PushAnswer,
  type PushResult,
  type Submit,
} from '../../pushes/pushes';
import type { RequestState } from '../request';
import { submitRequest } from './push';

export function batchRoute(submit: Submit, limits: BatchLimits): Middleware<RequestState> {
  return async (ctx) => {
    const { state } = ctx;
    const results = await submitRequest(ctx, submit, BATCH, () => readLines(state, limits));
    throwIfRejected(results);
    const rendered = results.map((result) => renderResult(result, state.language));
    setLineResults(state, rendered, longestWait(results));
  };
}

/** @throws PushError if the request was rejected as a whole */
export function throwIfRejected([first]: readonly PushResult[]): void {
  if (first?.line === undefined && first?.answer instanceof PushError) throw first.answer;
}

async function readLines(state: RequestState, limits: BatchLimits) {
  const lines = await runInSlices(readBatchLines(state.rawBody, limits));
  // A line counts as failed until the line is answered.
  state.lineCounts = { total: lines.length, failed: lines.length };
  return lines;
}

/** @param timeout milliseconds for the check of all lines */
export function verifyBatchRoute(reader: BatchReader, timeout: number): Middleware<RequestState> {
  return async ({ req, state }) => {
    const { rawBody, language } = state;
    const headers = readPushHeaders(req.rawHeaders);
    checkBatchHeaders(headers);
    const lines = await runInSlices(readBatchLines(rawBody, reader.limits));
    const checked = await databaseCall(checkLines(reader, lines, headers), timeout);
    const results = checked.map(({ line, read, checked: result }): VerifiedLine => {
      const sentId = result instanceof PushError ? read?.body.externalId : result.externalId;
      const externalId = typeof sentId === 'string' ? sentId : null;
      return { line: line.number, ...renderLine(result, language), externalId };
    });
    setLineResults(state, results);
  };
}

interface LineResult {
  /** From 1. */
  readonly line?: number | undefined;
  readonly requestId: string;
  readonly externalId?: string | undefined;
  readonly answer: PushAnswer;
}

export function renderResult(lineResult: LineResult, language: Language): BatchResult {
  const { line = 0, requestId, externalId = null, answer } = lineResult;
  const checked = answer instanceof PushError ? answer : { warnings: answer.data.warnings ?? [] };
  const result = { line, ...renderLine(checked, language), requestId, externalId };
  if (answer instanceof PushError) return result;
  const { matterId, outcome } = answer.data;
  return { ...result, matterId, outcome, ...(answer.replayed && { replayed: true as const }) };
}

export function renderLine(
  checked: PushError | { readonly warnings: PushError['warnings'] },
  language: Language,
) {
  const warnings = checked.warnings.length > 0 && {
    warnings: renderWarnings(checked.warnings, language),
  };
  if (!(checked instanceof PushError)) return { code: 0, message: 'success', ...warnings };
  const { code, text, reason, retryable, errors } = checked;
  return {
    code,
    message: text[language],
    reason,
    retryable,
    ...(errors && { errors: renderAll(errors, language) }),
    ...warnings,
  };
}

/** @returns the longest Retry-After of the retryable lines, in seconds */
export function longestWait(results: readonly { readonly answer: unknown }[]): number | undefined {
  const waits = results.flatMap(({ answer }) =>
    answer instanceof PushError && answer.retryable ? (answer.retryAfter ?? []) : [],
  );
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

/** @param retryAfter seconds */
export function setLineResults(
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
