/** Validates the options and adds the defaults, so that an invalid option fails at once and not in every call. */
import type { MatterPushClientOptions } from './api';
import { LONGEST_TIMER } from './call';

type Checked = Required<Omit<MatterPushClientOptions, 'agent' | 'onRetry' | 'autoBatch'>> &
  Pick<MatterPushClientOptions, 'agent' | 'onRetry'> & {
    /** Maximum pushes in a batch. */
    readonly maxItems: number;
    /** Milliseconds that a call waits for other calls; undefined: each push is sent alone. */
    readonly maxWait: number | undefined;
  };

/** The default of the service for BATCH_MAX_ITEMS. */
const MAX_LINES = 1_000;

/**
 * @returns `url` without a slash at its end
 * @throws TypeError that names the invalid option
 */
export function checkOptions(options: MatterPushClientOptions): Checked {
  const { clientId, secret, agent, onRetry, timeout = 120_000, tryTimeout = 30_000 } = options;
  const { retries = 8, concurrency = 32, queue = 10_000 } = options;
  demand(clientId !== '', 'clientId is empty');
  demand(secret !== '', 'secret is empty');
  demand(timeout > 0, 'timeout must be above 0');
  demand(tryTimeout > 0, 'tryTimeout must be above 0');
  demand(retries >= 0, 'retries must be 0 or above');
  demand(concurrency >= 1, 'concurrency must be 1 or above');
  demand(queue >= 0, 'queue must be 0 or above');
  const { autoBatch = false } = options;
  const { maxItems = 200, maxWait = 5 } = typeof autoBatch === 'boolean' ? {} : autoBatch;
  demand(maxItems >= 1 && maxItems <= MAX_LINES, 'autoBatch.maxItems must be from 1 to 1000');
  demand(maxWait >= 0 && maxWait <= LONGEST_TIMER, 'autoBatch.maxWait must be 0 or above');
  return {
    ...{ url: addressOf(options.url), clientId, secret, timeout, retries, concurrency, queue },
    tryTimeout: Math.min(tryTimeout, LONGEST_TIMER),
    maxItems,
    maxWait: autoBatch === false ? undefined : maxWait,
    ...(agent && { agent }),
    ...(onRetry && { onRetry }),
  };
}

function addressOf(text: string): string {
  const { protocol, search, hash, href } = new URL(text);
  demand(/^https?:$/.test(protocol), 'url must begin with http: or https:');
  demand(search === '' && hash === '', 'url must end with its path');
  return href.replace(/\/+$/, '');
}

function demand(isSo: boolean, message: string): void {
  if (!isSo) throw new TypeError(message);
}
