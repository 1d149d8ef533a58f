/** A chaos run that found something fails, and names it. */
import type { Violation } from '../../../tools/chaos/check/evidence';
import { faultsReport } from '../../../tools/chaos/report';
import type { ChaosResult } from '../../../tools/chaos/run';
import { anHonestRun } from '../../support/chaos-evidence';

const options = { seed: '7', duration: 60_000 };
const result = (over: Partial<ChaosResult> = {}): ChaosResult => ({
  history: anHonestRun().run.evidence().history,
  violations: [],
  recoveredAfter: 1_234.567,
  crashes: [],
  memory: new Map(),
  ...over,
});

test.each<[string, Partial<ChaosResult>]>([
  ['a violation', { violations: [{ rule: 'measurable', what: 'not measurable' }] }],
  ['a crash', { crashes: ['web-0 ended'] }],
])('%s fails it, and is shown', (_what, over) => {
  const { passed, text } = faultsReport(options, result(over));
  expect(passed).toBe(false);
  expect(text).toMatch(/not measurable|web-0 ended/);
});

test('machines are told the first violations of each rule, and how many there are', () => {
  const late = Array.from({ length: 7 }, (_, n) => ({
    rule: 'answered-in-time',
    what: `late ${n}`,
  }));
  const violations = [{ rule: 'fold', what: 'differs' }, ...late] as Violation[];
  const { summary, passed } = faultsReport(options, result({ violations }));
  expect(passed).toBe(false);
  expect(summary).toMatchObject({
    violations: { fold: 1, 'answered-in-time': 7 },
    found: [violations[0], ...late.slice(0, 5)],
  });
});
