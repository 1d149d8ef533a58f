/** What a chaos run is told as. */
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

test('how many operations were accepted, rejected for good and given up', () => {
  const { passed, summary, text } = faultsReport(options, result());
  expect(passed).toBe(true);
  const operations = { operations: 13, accepted: 7, rejected: 3, givenUp: 3 };
  expect(summary).toMatchObject({ operations, recoveredAfterMs: 1_235 });
  expect(text).toMatch(/accepted, rejected for good *│ 7, 3 /);
  expect(text).toMatch(/given up, or under way at the end *│ 3 /);
});

test('how long the harness, and the servers by themselves, stood still', () => {
  const { history } = result();
  const stalls = [
    { from: 10, to: 150.2 },
    { from: 1_000, to: 1_200 },
  ];
  const serverStalls = [{ from: 0, to: 1_500 }];
  const seen = result({ history: { ...history, stalls, serverStalls } });
  const { summary } = faultsReport(options, seen);
  expect(summary).toMatchObject({ stalledMs: 340, serversStalledMs: 1_500 });
});

test('after each election, how soon a push was confirmed', () => {
  const { history } = result();
  const confirmed = history.attempts.filter(({ end }) => end.kind === 'answered' && end.code === 0);
  const [first, last] = [confirmed[0]?.endedAt ?? 0, confirmed.at(-1)?.endedAt ?? 0];
  const elections = [first - 3.6, last + 1];
  const { summary, text } = faultsReport(options, result({ history: { ...history, elections } }));
  expect(summary).toMatchObject({ confirmedAfterElectionMs: [4, null] });
  expect(text).toMatch(/first push after an election *│ 4 ms, none /);
});

test('whose clock was wrong, and whether killSessions was rejected', () => {
  const { history } = result();
  const clockShifts = new Map([['web-0', -120_400]]);
  const { summary, text } = faultsReport(
    { ...options, rejectsKillSessions: true },
    result({ history: { ...history, clockShifts } }),
  );
  expect(summary).toMatchObject({ clocks: { 'web-0': -120 }, rejectsKillSessions: true });
  expect(text).toMatch(/clocks were wrong by *│ web-0: -120 s /);
  expect(text).toMatch(/killSessions was rejected *│ all the time /);
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
