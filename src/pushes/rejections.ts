/**
 * Records failed authentications, and requests that are rejected as a whole (contract 5.3). BURST and INTERVAL limit
 * the number of entries per client.
 */
import type { AuthHeaders } from '../auth/auth-headers';
import type { Clock } from '../concurrency/timing';
import { OPERATIONS } from '../domain/operation';
import { foldedLog } from '../infra/folded-log';
import type { Logger } from '../infra/logger';
import { type Metrics, NO_METRICS } from '../observability/metrics';
import type { RawLine } from '../protocol/batch-lines';
import { PushError, type Reason } from '../protocol/errors';
import { BATCH, RESEND } from '../protocol/paths';
import type { KnownClient } from '../storage/directory';
import type { BodyDigest, LogEntry, PushCounts, PushLog, RequestFields } from '../storage/push-log';
import {
  newEntry,
  type PushRequest,
  type PushResult,
  rejectedEntry,
  unauthenticatedEntry,
  withExternalId,
} from './push';
import { commonOperation, type PushEnded, toCountedPush } from './push-ended';
import { readExternalId } from './validate';

/** Maximum entries of one client in a burst. */
const BURST = 100;
/** Milliseconds between two entries of one client after the burst is used up. */
const INTERVAL = 60_000;
/** Maximum bytes of a stored body, so that attackers cannot fill the disk. */
const MAX_BODY = 16 * 1024;

/** Maximum milliseconds of the random delay of a write. The delay hides which client ids exist. */
const SPREAD = 1_000;

export interface LoggedRejection {
  readonly clientId: string;
  /** Called only if the rejection is recorded. */
  readonly entry: () => LogEntry;
  readonly body?: Uint8Array | undefined;
  /** Absent if the request does not count as a push. */
  readonly push?: PushEnded | undefined;
}

/** Never throws: a rejection that cannot be recorded is dropped. */
export type LogRejection = (rejection: LoggedRejection) => void;

export interface RejectionLog {
  readonly record: LogRejection;
  /** Records all pending entries immediately. */
  stop(): Promise<void>;
}

export interface RejectionLogDependencies {
  readonly pushLog: PushLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counts?: PushCounts;
  readonly metrics?: Metrics;
}

const NOT_RECORDED = {
  level: 'warn',
  text: 'rejection not recorded',
  dueTo: ['mongodb'],
} as const;

export function createRejectionLog({
  pushLog,
  clock,
  logger,
  counts,
  metrics = NO_METRICS,
}: RejectionLogDependencies): RejectionLog {
  const takeEntry = createAllowance(clock);
  const log = foldedLog(logger);
  const pending = new Map<NodeJS.Timeout, () => Promise<void>>();
  const recording = new Set<Promise<void>>();
  const drop = (push: PushEnded | undefined) => {
    metrics.rejectionUnrecorded();
    if (push) counts?.unrecorded(toCountedPush(push), push.lines);
  };
  const append = async (
    { clientId, entry, push }: LoggedRejection,
    body: Uint8Array | undefined,
  ) => {
    try {
      await pushLog.append(entry(), body);
    } catch (error) {
      drop(push);
      log(NOT_RECORDED, { clientId, error: String(error) });
    }
  };
  const start = (timer: NodeJS.Timeout) => {
    const record = pending.get(timer);
    if (!pending.delete(timer) || !record) return;
    const running = record().finally(() => recording.delete(running));
    recording.add(running);
  };
  const record: LogRejection = (rejection) => {
    const { clientId, body } = rejection;
    if (!takeEntry(clientId)) return drop(rejection.push);
    const keptBody = body !== undefined && body.length <= MAX_BODY ? body : undefined;
    const timer = setTimeout(() => start(timer), Math.random() * SPREAD).unref();
    pending.set(timer, () => append(rejection, keptBody));
  };
  const stop = async () => {
    for (const timer of [...pending.keys()]) {
      clearTimeout(timer);
      start(timer);
    }
    await Promise.all(recording);
  };
  return { record, stop };
}

function createAllowance(clock: Clock): (clientId: string) => boolean {
  /** By client id: the epoch milliseconds at which the full burst is available again. */
  const fullAt = new Map<string, number>();
  return (clientId) => {
    const now = clock();
    const next = Math.max(now, fullAt.get(clientId) ?? 0) + INTERVAL;
    if (next - now > BURST * INTERVAL) return false;
    fullAt.set(clientId, next);
    return true;
  };
}

/** A signed request that fails authentication. */
export interface RejectedRequest {
  readonly requestId: string;
  readonly operation: string;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  readonly headers: AuthHeaders;
  /** Absent if the body was streamed. */
  readonly rawBody?: Uint8Array;
  /** Set for a large body and for a streamed body. */
  readonly digest?: BodyDigest | undefined;
  readonly logged?: RequestFields;
}

/**
 * Records a failed authentication of a known client.
 *
 * @returns undefined if the client is unknown, or if the request does not count as a push
 */
export function recordRejection(
  logRejection: LogRejection,
  client: KnownClient | undefined,
  { headers, ...request }: RejectedRequest,
  error: PushError,
): PushEnded | undefined {
  if (!client) return undefined;
  const { operation, receivedAt, digest, rawBody } = request;
  const { clientId, systemCode } = client;
  const isPush = isPushOperation(operation) && systemCode !== null;
  const push: PushEnded | undefined = isPush
    ? { ...{ clientId, systemCode, operation, receivedAt, answer: error }, ...UNPARSED }
    : undefined;
  // A large body must not stay in memory during the delay (SPREAD).
  const body = digest ? undefined : rawBody;
  const source = { ...request, rawBody: body ?? EMPTY, caller: { clientId, systemCode } };
  const entry = () => unauthenticatedEntry(newEntry(source, 0), error, headers, receivedAt);
  logRejection({ clientId, entry, body, push });
  return push;
}

/** A batch counts as one push, because the lines are not parsed. */
const UNPARSED = { lines: undefined, isRecorded: true } as const;
const EMPTY = new Uint8Array(0);

const PUSHES: ReadonlySet<string> = new Set([...OPERATIONS, BATCH, RESEND]);
const isPushOperation = (name: string): name is PushEnded['operation'] => PUSHES.has(name);

export interface RejectRequestDependencies {
  readonly logRejection: LogRejection;
  readonly clock: Clock;
}

export interface RejectedSubmission {
  /** The lines of a batch, or the error of an unreadable batch; undefined for a single push. */
  readonly lines: readonly RawLine[] | PushError | undefined;
  /** Milliseconds from the receipt of the request to the deadline. */
  readonly timeout: number;
}

/** Requests with these reasons are recorded without a body, because the database is probably slow. */
const SLOW_WRITES: ReadonlySet<Reason> = new Set(['BACKLOG_FULL', 'DATABASE_UNAVAILABLE']);

/**
 * Records an authenticated request that is rejected as a whole. If `cause` is not a PushError, the answer is
 * INTERNAL_ERROR and the request is not recorded.
 */
export function rejectRequest(
  { logRejection, clock }: RejectRequestDependencies,
  request: PushRequest,
  { lines, timeout }: RejectedSubmission,
  cause: unknown,
): PushResult {
  const { requestId, caller, receivedAt, digest, rawBody } = request;
  const { clientId, systemCode } = caller;
  const isRecorded = cause instanceof PushError;
  const answer = isRecorded ? cause : new PushError('INTERNAL_ERROR', { cause });
  const operation = commonOperation(request.operation);
  const externalId = undefined;
  const result = { requestId, line: undefined, operation, externalId, answer, isRecorded };
  if (!isRecorded) return result;
  const now = clock();
  const newRejected = (named?: string) =>
    rejectedEntry(withExternalId(newEntry(request, timeout), named), answer, now);
  // A batch is too large to parse for an externalId.
  const batchEntry = lines && newRejected();
  const entry = () => batchEntry ?? newRejected(readExternalId(rawBody));
  const keepsBody = !digest && !SLOW_WRITES.has(answer.reason);
  const push: PushEnded = {
    ...{ clientId, systemCode, operation: request.operation, receivedAt, answer, isRecorded },
    lines: Array.isArray(lines) ? lines.length : undefined,
  };
  logRejection({ clientId, entry, body: keepsBody ? rawBody : undefined, push });
  return result;
}
