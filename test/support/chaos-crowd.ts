/** What the chaos runs of tests have in common. */
import type { ChaosOptions } from '../../tools/chaos/run';
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
