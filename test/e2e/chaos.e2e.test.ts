/**
 * Nothing is lost, whatever dies: a short run with a fixed seed keeps every promise; and without
 * any one of the mechanisms that carry them, the same check finds what is broken.
 */
import { FAULT_KINDS } from '../../chaos/history';
import { MECHANISMS, type Mechanism } from '../../chaos/mechanisms';
import { type ChaosOptions, runChaos } from '../../chaos/run';
import { projectRoot } from '../../src/embedded/project';

const base: Omit<ChaosOptions, 'duration'> = {
  root: projectRoot(),
  seed: 'a fixed one',
  callers: 16,
  webs: 2,
  workers: 3,
  say: () => undefined,
};

test('under faults of every kind no promise is broken, and everything recovers by itself', async () => {
  const mix = { kinds: FAULT_KINDS, pace: 2 };
  const result = await runChaos({ ...base, duration: 45_000, mix });
  expect(result.violations).toEqual([]);
  expect(result.crashes).toEqual([]);
  expect(new Set(result.history.faults.map(({ kind }) => kind)).size).toBeGreaterThan(6);
  const accepted = result.history.attempts.filter(
    ({ end }) => end.kind === 'answered' && end.code === 0,
  );
  expect(accepted.length).toBeGreaterThan(100);
}, 300_000);

/** Which promises are broken first where a mechanism is gone. */
const FOUND: Readonly<Record<Mechanism, readonly string[]>> = {
  'revision-guard': ['revisions', 'phantom', 'fold'],
  'keep-last-if-active': ['recovery', 'leftover'],
  sweep: ['recovery', 'leftover'],
  deadline: ['late-effect'],
  'confirmed-write': ['acknowledged'],
  replay: ['one-effect'],
};

test.each(Object.keys(MECHANISMS) as Mechanism[])(
  'without %s the check reports a violation',
  async (broken) => {
    const result = await runChaos({ ...base, duration: 20_000, broken });
    const found = new Set(result.violations.map(({ rule }) => rule));
    expect(FOUND[broken].filter((rule) => found.has(rule as never))).not.toEqual([]);
  },
  180_000,
);
