/**
 * Expires the log entries of pushes that never reached a partition, or whose partition was lost with Redis. Long
 * past their deadline no caller waits for them, and a settled push can never be applied late.
 */
import type { Clock } from '../src/concurrency/clock';
import { type PollLoop, startPollLoop } from '../src/concurrency/poll-loop';
import type { Logger } from '../src/runtime/logger';
import type { ExpireLost } from '../src/storage/push-log/expire-lost';

const INTERVAL = 2_000;
/**
 * Milliseconds after the deadline. A web process finalizes its own unanswered pushes; a worker expires
 * only those of a web process that died. No two clocks are compared: request ids and `queueTime` are both
 * times of the queue.
 */
const GRACE = 60_000;

export interface ExpiryDependencies {
  readonly expireLost: ExpireLost;
  /** The clock of the queue, epoch milliseconds. @throws where Redis does not answer */
  readonly queueTime: () => Promise<number>;
  readonly clock: Clock;
  readonly workerName: string;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  readonly logger: Logger;
}

/** Failed runs in a row after which an operator is told, once. Fewer are an outage that others tell of. */
const FAILURES_TO_TELL = 10;

/** @param interval milliseconds between two looks */
export function startExpiry(deps: ExpiryDependencies, interval = INTERVAL): PollLoop {
  const { expireLost, queueTime, clock, workerName, timeout, logger } = deps;
  let failures = 0;
  return startPollLoop(
    async (stopping) => {
      const before = (await queueTime()) - timeout - GRACE;
      const expired = await expireLost(before, { now: clock(), worker: workerName }, stopping);
      if (expired > 0) logger.warn({ expired }, 'pushes lost on the way were settled as expired');
      if (failures >= FAILURES_TO_TELL) logger.info({ failures }, 'expiry works again');
      failures = 0;
    },
    interval,
    (error) => {
      failures += 1;
      const level = failures === FAILURES_TO_TELL ? 'warn' : 'debug';
      logger[level]({ failures, error: String(error) }, 'expiry failed, tried again soon');
    },
  );
}
