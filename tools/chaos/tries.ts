/** One request: a try of a single operation, or a batch, in which each line is a try. */
import { BATCH_PATH, pushPath } from '../../src/protocol/paths';
import type { HttpAnswer, Sender } from '../client/sender';
import type { DirectoryClient } from '../harness/directory';
import { batchText, type ChaosBatch } from './batches';
import type { AnsweredAttempt, AttemptEnd, BatchAnswer, BatchTry, PushAttempt } from './history';
import type { ChaosOperation } from './operations';

/** Receives every try when it ends. */
export interface Recorder {
  attempt(attempt: PushAttempt): void;
  batch(batch: BatchTry): void;
}

/** Target and client of a try. */
export interface TryOptions {
  readonly sender: Sender;
  /** Name of the web process. */
  readonly web: string;
  readonly client: DirectoryClient;
  readonly record: Recorder;
}

interface Tried {
  readonly end: AttemptEnd;
  /** Milliseconds of Retry-After; absent if there is nothing to retry. */
  readonly wait?: number;
}

/**
 * @param cut when it aborts, the caller disconnects
 * @returns the milliseconds until a retry; undefined if the operation is settled
 */
export async function tryOperation(
  way: TryOptions,
  operation: ChaosOperation,
  cut?: AbortSignal,
): Promise<number | undefined> {
  const { sender, record } = way;
  const sentAt = performance.now();
  const { end, wait } = await sender
    .send(
      {
        path: pushPath(operation.name),
        body: Buffer.from(operation.body),
        idempotencyKey: operation.idempotencyKey,
      },
      cut,
    )
    .then(readAnswer)
    .catch((error) => (cut?.aborted ? LEFT : brokenOff(error)));
  record.attempt({ ...attemptOf(way, operation, sentAt), end });
  return wait;
}

/** The lines of a batch that need a retry, in order, and when. */
interface Unsettled {
  readonly left: readonly ChaosOperation[];
  readonly wait: number;
}

/** One batch of this number is a JSON array. If it is sent again, it may have the other form. */
const ARRAYS = 3;

/**
 * @param request unique in the run
 * @param cut when it aborts, the caller disconnects
 */
export async function tryBatch(
  way: TryOptions,
  batch: ChaosBatch,
  { request, cut }: { readonly request: number; readonly cut?: AbortSignal | undefined },
): Promise<Unsettled> {
  const { sender, record } = way;
  const { key, lines } = batch;
  const sentAt = performance.now();
  const body = Buffer.from(batchText(batch, request % ARRAYS === 0));
  const outgoing = { path: BATCH_PATH, body, idempotencyKey: key };
  const { tried, wait, answer } = await sender
    .send(outgoing, cut)
    .then((got) => readBatchAnswer(got, lines.length))
    .catch((error) => {
      const none = cut?.aborted ? LEFT : brokenOff(error);
      return { ...allOf(none, lines.length), answer: undefined };
    });
  record.batch({ request, lines: lines.length, ...(answer && { answer }) });
  lines.forEach((operation, index) => {
    const { end } = tried[index] ?? NO_RESULT;
    const attempt = attemptOf(way, operation, sentAt);
    record.attempt({ ...attempt, batch: { request, line: index + 1 }, end });
  });
  const left = lines.filter((_, index) => (tried[index] ?? NO_RESULT).wait !== undefined);
  return { left, wait };
}

/** The caller has disconnected. */
const LEFT: Tried = { end: { kind: 'left' }, wait: 0 };
/** The answer has no result for a line. */
const NO_RESULT: Tried = { end: { kind: 'lost', why: 'no result in the answer' }, wait: 0 };

function attemptOf(
  { client: { clientId, systemCode }, web }: TryOptions,
  { number: operation, name, body, idempotencyKey }: ChaosOperation,
  sentAt: number,
): Omit<PushAttempt, 'end'> {
  return {
    ...{ operation, clientId, systemCode, web, name, body, sentAt, endedAt: performance.now() },
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
}

function readAnswer({ status, text, retryAfter, replayed }: HttpAnswer): Tried {
  const { code, reason, requestId, retryable, data } = JSON.parse(text);
  const end = answered({ ...data, status, code, reason, requestId, replayed });
  return { end, ...(retryable && { wait: msOf(retryAfter) }) };
}

interface TriedBatch {
  readonly tried: readonly Tried[];
  readonly wait: number;
  readonly answer: BatchAnswer | undefined;
}

function readBatchAnswer({ status, text, retryAfter }: HttpAnswer, lines: number): TriedBatch {
  const { code, reason, requestId, retryable, data } = JSON.parse(text);
  const wait = msOf(retryAfter);
  if (!data?.results) {
    const of = answered({ status, code, reason, requestId, replayed: false });
    const end = { ...of, ofBatch: true as const };
    return { ...allOf({ end, ...(retryable && { wait }) }, lines), answer: undefined };
  }
  const { total, succeeded, failed, results } = data;
  const tried = (results as LineResult[]).map((result): Tried => {
    const end = answered({ ...result, status: result.code || 200 });
    return { end, ...(result.retryable && { wait }) };
  });
  const lineNumbers = (results as LineResult[]).map(({ line }) => line);
  const answer = { status, code, requestId, total, succeeded, failed, lineNumbers };
  return { tried, wait, answer: { ...answer, ...(reason && { reason }) } };
}

/** The fields that the harness reads. */
interface LineResult extends Omit<AnsweredAttempt, 'kind' | 'status' | 'replayed'> {
  readonly line: number;
  readonly retryable?: boolean;
  readonly replayed?: boolean;
}

function answered(
  of: Omit<AnsweredAttempt, 'kind' | 'replayed'> & { readonly replayed?: boolean | undefined },
): AnsweredAttempt {
  const { status, code, reason, requestId, externalId, outcome, matterId, replayed } = of;
  return {
    ...{ kind: 'answered', status, code, requestId, replayed: replayed === true },
    ...(reason && { reason }),
    ...(code === 0 && externalId && outcome && matterId && { externalId, outcome, matterId }),
  };
}

function allOf(tried: Tried, lines: number): { tried: readonly Tried[]; wait: number } {
  return { tried: Array.from({ length: lines }, () => tried), wait: tried.wait ?? 0 };
}

const msOf = (retryAfter: string | undefined) => Number(retryAfter ?? 0) * 1_000;

function brokenOff(error: NodeJS.ErrnoException): Tried {
  if (error.code === 'ECONNREFUSED') return { end: { kind: 'refused' }, wait: 0 };
  if (error.code === 'NO_ANSWER_IN_TIME') return { end: { kind: 'hung' }, wait: 0 };
  return { end: { kind: 'lost', why: error.code ?? error.message }, wait: 0 };
}
