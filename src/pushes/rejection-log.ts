/** Rejections of known clients go into the push log too, at a bounded rate (decisions, "push log"). */
import type { Clock } from '../concurrency/clock';
import { foldedLog } from '../runtime/folded-log';
import type { Logger } from '../runtime/logger';
import type { LogEntry } from '../storage/push-log/entry-model';
import type { PushLog } from '../storage/push-log/log';
import { type Metrics, NO_METRICS } from '../telemetry/metrics';

/** Entries, or bodies, per web process and span of time. */
export interface RejectionRate {
  /** For all clients together. */
  readonly total: number;
  readonly perClient: number;
}

/** Of requests that are wrong, or too many. */
export const REJECTIONS: RejectionRate = { total: 100, perClient: 10 };
/** Rate of entries for shed pushes. It is lower: writes are slow then, and each entry is a write too. */
export const SHED: RejectionRate = { total: 2, perClient: 1 };

/**
 * Bodies of some rejected requests are stored, up to this size: anybody who knows a client id can cause
 * rejections and must not fill the disk with them. A developer who tries to get the signature right sends
 * several requests in a row and wants a diagnosis of each (src/signature-diagnosis).
 */
const MAX_BODY = 16 * 1024;
const BODIES: RejectionRate = { total: 30, perClient: 15 };
const BODY_SPAN = 300_000;

/**
 * Milliseconds in which a rejection is recorded, at no particular moment: the work would make the
 * answer, or the one after it, later than a stranger's, and so tell that the client is known.
 */
const SPREAD = 1_000;

export interface RejectionLog {
  readonly record: LogRejection;
  /** Records at once what was to be recorded later; resolves when all of it is recorded or dropped. */
  stop(): Promise<void>;
}

/**
 * Records a rejection in the background; never fails. The entry is made only if it is recorded; where it
 * is not, `dropped` is told.
 */
export type LogRejection = (
  clientId: string,
  entry: () => LogEntry,
  body?: Uint8Array,
  dropped?: () => void,
) => void;

export interface RejectionLogDependencies {
  readonly pushLog: PushLog;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Counts what is not recorded. */
  readonly metrics?: Metrics;
  /** Asked last, about rejections that anybody may have caused: takes one of the client's quota. */
  readonly quota?: ((clientId: string) => Promise<boolean>) | undefined;
}

const NOT_RECORDED = {
  level: 'warn',
  text: 'rejection not recorded',
  dueTo: ['mongodb', 'redis'],
} as const;

/** @returns a recorder that drops what is over the rate */
export function createRejectionLog(
  { pushLog, clock, logger, quota, metrics = NO_METRICS }: RejectionLogDependencies,
  rate: RejectionRate,
): RejectionLog {
  const takeEntry = createAllowance(rate, 1_000, clock);
  const takeBody = createAllowance(BODIES, BODY_SPAN, clock);
  const tell = foldedLog(logger);
  const pending = new Map<NodeJS.Timeout, () => Promise<void>>();
  const recording = new Set<Promise<void>>();
  const log: LogRejection = (clientId, makeEntry, body, dropped) => {
    const drop = () => {
      metrics.rejectionUnrecorded();
      dropped?.();
    };
    if (!takeEntry(clientId)) return drop();
    const isSmall = body !== undefined && body.length <= MAX_BODY;
    const kept = isSmall && takeBody(clientId) ? body : undefined;
    const record = async () => {
      try {
        if (quota && !(await quota(clientId))) return drop();
        await pushLog.append(makeEntry(), kept);
      } catch (error) {
        drop();
        // One kind for all clients: where nothing can be recorded, nothing of anybody is.
        tell(NOT_RECORDED, { clientId, error: String(error) });
      }
    };
    const timer = setTimeout(() => start(timer), Math.random() * SPREAD).unref();
    pending.set(timer, record);
  };
  const start = (timer: NodeJS.Timeout) => {
    const record = pending.get(timer);
    if (!pending.delete(timer) || !record) return;
    const running = record().finally(() => recording.delete(running));
    recording.add(running);
  };
  const stop = async () => {
    for (const timer of [...pending.keys()]) {
      clearTimeout(timer);
      start(timer);
    }
    await Promise.all(recording);
  };
  return { record: log, stop };
}

/** @returns takes one of what a client may have in this span of time; false where there is none left */
function createAllowance(
  rate: RejectionRate,
  span: number,
  clock: Clock,
): (clientId: string) => boolean {
  let current = 0;
  let taken = new Map<string, number>();
  let total = 0;
  return (clientId) => {
    const now = Math.floor(clock() / span);
    if (now !== current) {
      current = now;
      taken = new Map();
      total = 0;
    }
    const ofClient = taken.get(clientId) ?? 0;
    if (total >= rate.total || ofClient >= rate.perClient) return false;
    total += 1;
    taken.set(clientId, ofClient + 1);
    return true;
  };
}
