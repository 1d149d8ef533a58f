/**
 * Ends the log entries of pushes that never reached a lane, or whose lane was lost with Redis: long
 * past their deadline nobody waits for them, and settled they can never be applied late.
 */
import type { Clock } from '../src/clock';
import type { Logger } from '../src/logger';
import type { PushLog } from '../src/push-log/log';
import { type Repeated, repeat } from '../src/repeat';

const INTERVAL = 2_000;
/**
 * Beyond the deadline. An ingress ends its own unanswered pushes; here are only those of one that
 * died, so there is room for the clocks of the two machines to differ.
 */
const GRACE = 60_000;

export interface ExpiryDependencies {
  readonly pushLog: PushLog;
  readonly clock: Clock;
  readonly workerName: string;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  readonly logger: Logger;
}

export function startExpiry(deps: ExpiryDependencies): Repeated {
  const { pushLog, clock, workerName, timeout, logger } = deps;
  return repeat(
    async () => {
      const now = clock();
      const expired = await pushLog.expire(now - timeout - GRACE, { now, worker: workerName });
      if (expired > 0) logger.warn({ expired }, 'pushes lost on the way were settled as expired');
    },
    INTERVAL,
    (error) => logger.debug({ error: String(error) }, 'expiry failed, tried again soon'),
  );
}
