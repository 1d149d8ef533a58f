/** Expires log entries that are still QUEUED long after the deadline of the push. */
import { type Clock, type PollLoop, startPollLoop } from '../src/concurrency/timing';
import type { Logger } from '../src/infra/logger';
import type { ExpireLost } from '../src/storage/push-log';

const INTERVAL = 2_000;
/** Minimum milliseconds between the deadline and the expiry. */
const GRACE = 60_000;

export interface ExpiryDependencies {
  readonly expireLost: ExpireLost;
  /** The Redis time, epoch milliseconds. @throws if a read of the Redis clock is necessary and Redis does not answer */
  readonly queueTime: () => Promise<number>;
  readonly clock: Clock;
  readonly workerName: string;
  /** The larger of PUSH_TIMEOUT and BATCH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  readonly logger: Logger;
}

const FAILURES_TO_WARN = 10;

/** @param interval minimum milliseconds between two runs */
export function startExpiry(deps: ExpiryDependencies, interval = INTERVAL): PollLoop {
  const { expireLost, queueTime, clock, workerName, timeout, logger } = deps;
  let failures = 0;
  return startPollLoop(
    async (stopping) => {
      const before = (await queueTime()) - timeout - GRACE;
      const expired = await expireLost(before, { now: clock(), worker: workerName }, stopping);
      if (expired > 0) logger.warn({ expired }, 'lost pushes expired');
      if (failures >= FAILURES_TO_WARN) logger.info({ failures }, 'expiry works again');
      failures = 0;
    },
    interval,
    (error) => {
      failures += 1;
      const level = failures === FAILURES_TO_WARN ? 'warn' : 'debug';
      logger[level]({ failures, error: String(error) }, 'could not expire lost pushes, retrying');
    },
  );
}
