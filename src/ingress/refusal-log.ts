/** Refusals of known clients go into the push log too, at a bounded rate (decisions, "push log"). */
import type { Clock } from '../clock';
import type { Logger } from '../logger';
import type { LogEntry } from '../push-log/entry-model';
import type { PushLog } from '../push-log/log';

/** Entries per second and ingress. */
export interface RefusalRate {
  /** For all clients together. */
  readonly total: number;
  readonly perClient: number;
}

/** Of requests that are wrong, or too many. */
export const REFUSALS: RefusalRate = { total: 100, perClient: 10 };
/** Of those that are shed because writes are slow: each entry is a write too. */
export const SHED: RefusalRate = { total: 2, perClient: 1 };

/**
 * Every ten seconds one refusal brings its body, unless it is larger: whoever knows a client id can
 * make refusals, and must not fill the disk with them.
 */
const MAX_BODY = 16 * 1024;
const BODY_INTERVAL = 10_000;

/**
 * Milliseconds in which a refusal is recorded, at no particular moment: the work would make the
 * answer, or the one after it, later than a stranger's, and so tell that the client is known.
 */
const SPREAD = 1_000;

/** Records a refusal in the background; never fails. The entry is made only if it is recorded. */
export type LogRefusal = (clientId: string, entry: () => LogEntry, body?: Uint8Array) => void;

export interface RefusalLogDependencies {
  readonly pushLog: PushLog;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** @returns a recorder that drops what is over the rate */
export function createRefusalLog(
  { pushLog, clock, logger }: RefusalLogDependencies,
  rate: RefusalRate,
): LogRefusal {
  let second = 0;
  let recorded = new Map<string, number>();
  let total = 0;
  let bodyAt = Number.NEGATIVE_INFINITY;
  return (clientId, makeEntry, body) => {
    const now = Math.floor(clock() / 1000);
    if (now !== second) {
      second = now;
      recorded = new Map();
      total = 0;
    }
    const ofClient = recorded.get(clientId) ?? 0;
    if (total >= rate.total || ofClient >= rate.perClient) return;
    total += 1;
    recorded.set(clientId, ofClient + 1);
    const isDue = clock() - bodyAt >= BODY_INTERVAL;
    const kept = isDue && body && body.length <= MAX_BODY ? body : undefined;
    if (kept) bodyAt = clock();
    const record = async () => {
      try {
        await pushLog.append(makeEntry(), kept);
      } catch (error) {
        logger.warn({ clientId, error: String(error) }, 'refusal not recorded');
      }
    };
    setTimeout(record, Math.random() * SPREAD).unref();
  };
}
