/** One try: of an operation that is a request of its own, or of a batch, whose lines are tries each. */
import { BATCH_PATH, pushPath } from '../../src/protocol/paths';
import type { Answer, Sender } from '../client/sender';
import type { DirectoryClient } from '../harness/directory';
import { batchText, type ChaosBatch } from './batches';
import type { Answered, Attempt, AttemptEnd, BatchAnswer, BatchTry } from './history';
import type { ChaosOperation } from './operations';

/** Told of every try as it ends. */
export interface Recorder {
  attempt(attempt: Attempt): void;
  batch(batch: BatchTry): void;
}

/** Where a try goes, and whose it is. */
export interface Way {
  readonly sender: Sender;
  /** Of the web process. */
  readonly web: string;
  readonly client: DirectoryClient;
  readonly record: Recorder;
}

interface Tried {
  readonly end: AttemptEnd;
  /** Milliseconds that the service asks to wait for; absent where there is nothing to retry. */
  readonly wait?: number;
}

/** @returns undefined where that settled it; else the milliseconds that the service asks for */
export async function tryOperation(way: Way, operation: ChaosOperation) {
  const { sender, record } = way;
  const sentAt = performance.now();
  const { end, wait } = await sender
    .send({
      path: pushPath(operation.name),
      body: Buffer.from(operation.body),
      idempotencyKey: operation.idempotencyKey,
    })
    .then(readAnswer)
    .catch(brokenOff);
  record.attempt({ ...attemptOf(way, operation, sentAt), end });
  return wait;
}

/** What of a batch is to be tried again, in its order, and when. */
interface Unsettled {
  readonly left: readonly ChaosOperation[];
  readonly wait: number;
}

/**
 * @param request unique in the run
 * @param cut aborted: the caller breaks off
 */
export async function tryBatch(
  way: Way,
  batch: ChaosBatch,
  { request, cut }: { readonly request: number; readonly cut?: AbortSignal | undefined },
): Promise<Unsettled> {
  const { sender, record } = way;
  const { key, lines } = batch;
  const sentAt = performance.now();
  const outgoing = { path: BATCH_PATH, body: Buffer.from(batchText(batch)), idempotencyKey: key };
  const { tried, wait, answer } = await sender
    .send(outgoing, cut)
    .then((got) => readBatchAnswer(got, lines.length))
    .catch((error) => {
      const none: Tried = cut?.aborted ? { end: { kind: 'left' }, wait: 0 } : brokenOff(error);
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

/** An answer that says nothing of a line. */
const NO_RESULT: Tried = { end: { kind: 'lost', why: 'no result in the answer' }, wait: 0 };

function attemptOf(
  { client: { clientId, systemCode }, web }: Way,
  { number: operation, name, body, idempotencyKey }: ChaosOperation,
  sentAt: number,
): Omit<Attempt, 'end'> {
  return {
    ...{ operation, clientId, systemCode, web, name, body, sentAt, endedAt: performance.now() },
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
}

function readAnswer({ status, text, retryAfter, replayed }: Answer): Tried {
  const { code, reason, requestId, retryable, data } = JSON.parse(text);
  const end = answered({ ...data, status, code, reason, requestId, replayed });
  return { end, ...(retryable && { wait: msOf(retryAfter) }) };
}

interface TriedBatch {
  readonly tried: readonly Tried[];
  readonly wait: number;
  readonly answer: BatchAnswer | undefined;
}

function readBatchAnswer({ status, text, retryAfter }: Answer, lines: number): TriedBatch {
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

/** As far as it is read. */
interface LineResult extends Omit<Answered, 'kind' | 'status' | 'replayed'> {
  readonly line: number;
  readonly retryable?: boolean;
  readonly replayed?: boolean;
}

function answered(
  of: Omit<Answered, 'kind' | 'replayed'> & { readonly replayed?: boolean | undefined },
): Answered {
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
