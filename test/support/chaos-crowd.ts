/** What the chaos runs of tests have in common. */
import type { Rule } from '../../tools/chaos/check/evidence';
import { isAccepted } from '../../tools/chaos/history';
import { type ChaosOptions, runChaos } from '../../tools/chaos/run';
import { projectRoot } from '../../tools/local/project';

export const CROWD: Omit<ChaosOptions, 'duration' | 'seed'> = {
  root: projectRoot(),
  callers: 16,
  webs: 2,
  workers: 3,
  say: () => undefined,
};

/** Milliseconds in which a run that is given up ends its processes. */
const CLEARING = 30_000;

/**
 * To be called once in a file.
 *
 * @returns gives a signal that leaves no process to a test that is over
 */
export function untilTestEnds(): (limit: number) => AbortSignal {
  let ended: AbortController;
  beforeEach(() => {
    ended = new AbortController();
  });
  afterEach(() => {
    ended.abort();
  });
  return (limit) => AbortSignal.any([ended.signal, AbortSignal.timeout(limit - CLEARING)]);
}

export type How = Pick<ChaosOptions, 'seed' | 'mix' | 'skew' | 'redisForm' | 'duration'>;

/** Milliseconds of a run. In its last minute the service ends the pushes that nobody settled. */
const LIMIT = 900_000;
/**
 * Milliseconds between two pushes of a caller: without it the callers alone take all processors, and a fault meets
 * the service no more often.
 */
const PAUSE = 30;
/** So many accepted pushes show the promises. A slow machine needs longer for them than the faults last. */
const MIN_ACCEPTED = 101;
/**
 * Rules about durations. Other load on the machine breaks them, so only `npm run chaos` checks them. Tests see
 * that the service recovers because it leaves nothing behind in Redis and in the log.
 */
export const OF_TIME: readonly Rule[] = ['answered-in-time', 'recovery', 'served', 'measurable'];

/** Declares a test for each run: every promise is kept, and the run had a fault of each of its kinds. */
export function testPromises(runs: readonly (readonly [where: string, how: How])[]): void {
  const within = untilTestEnds();
  test.each(runs)(
    '%s no promise is broken, and everything recovers by itself',
    async (_where, how) => {
      const say = (text: string) =>
        text.startsWith('The logs') && process.stderr.write(`${text}\n`);
      const options = { ...CROWD, pause: PAUSE, minAccepted: MIN_ACCEPTED, ...how, say };
      const result = await runChaos({ ...options, signal: within(LIMIT) });
      expect(result.violations.filter(({ rule }) => !OF_TIME.includes(rule))).toEqual([]);
      expect(result.crashes).toEqual([]);
      const kinds = new Set(result.history.faults.map(({ kind }) => kind));
      expect(how.mix?.kinds.filter((kind) => !kinds.has(kind))).toEqual([]);
      expect(
        result.history.attempts.filter(({ end }) => isAccepted(end)).length,
      ).toBeGreaterThanOrEqual(MIN_ACCEPTED);
    },
    LIMIT,
  );
}
