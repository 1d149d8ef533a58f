/**
 * Ends pushes without an effect, in the log and exactly: whoever else is at work on them, one word
 * counts and everybody is told the same. Where the database does not say in time what a push came to,
 * it is asked again until it does, so that no entry stays open for want of an answer.
 */
import { createBatcher } from '../batcher';
import type { Clock } from '../clock';
import type { Logger } from '../logger';
import type { Finalize } from '../push-log/finalize';
import type { SettledPush } from '../push-log/log';
import type { Settlement } from '../push-log/settlement';
import { repeat } from '../repeat';
import type { Tracing } from '../tracing/tracing';
import { databaseCall } from './availability';

export interface EndingDependencies {
  readonly finalize: Finalize;
  /** Of the process: the entries that it ends have it. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracing?: Tracing | undefined;
}

export interface Endings {
  /**
   * Ends a push, unless a worker was first.
   *
   * @param until epoch milliseconds: how long the answer is waited for
   * @returns what the push came to; undefined where nobody can tell by then
   */
  end(push: SettledPush, until: number): Promise<Settlement | undefined>;
  /** Asks once more for what is still unknown. */
  stop(): Promise<void>;
}

/** Milliseconds that the database is given however late this process is itself: less is no question. */
const LEAST_WAIT = 100;
/** Milliseconds between two tries. */
const INTERVAL = 500;
const MAX_BATCH = 500;
/** Beyond so many the workers find them, a minute after their deadline. */
const MAX_UNKNOWN = 20_000;

export function createEndings(deps: EndingDependencies): Endings {
  const { finalize, name, clock, logger, tracing } = deps;
  const endAll = (pushes: readonly SettledPush[]) =>
    finalize(pushes, { now: clock(), worker: name });
  // Pushes that got no answer in time come in crowds: one settle and one look for all of a moment.
  const ending = createBatcher<SettledPush, Settlement | undefined>({
    run: endAll,
    maxBatch: MAX_BATCH,
    maxRunning: 2,
    tracing,
    name: 'end',
  });
  const unknown = new Map<string, SettledPush>();
  const askAgain = async () => {
    const some = [...unknown.values()].slice(0, MAX_BATCH);
    if (some.length === 0) return;
    const ended = await endAll(some);
    let known = 0;
    for (const [index, push] of some.entries()) {
      unknown.delete(push.id);
      // Behind the others: what an open transaction holds must not keep them from being asked.
      if (ended[index] === undefined) unknown.set(push.id, push);
      else known += 1;
    }
    if (known > 0) logger.info({ pushes: known, left: unknown.size }, 'pushes ended late');
  };
  const asking = repeat(askAgain, INTERVAL, (error) => {
    logger.debug({ error: String(error) }, 'pushes not ended, tried again soon');
  });
  return {
    end: async (push, until) => {
      const left = Math.max(LEAST_WAIT, until - clock());
      // Not to be asked, or held by somebody: said to nobody now, and asked again, see above.
      const ended = await databaseCall(ending.add(push), left).catch(() => undefined);
      if (!ended && unknown.size < MAX_UNKNOWN) unknown.set(push.id, push);
      return ended;
    },
    stop: async () => {
      await asking.stop();
      await askAgain();
    },
  };
}
