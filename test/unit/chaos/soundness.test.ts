/** A chaos run that saw too little, or saw it too late itself, does not pass. */
import { setTimeout as sleep } from 'node:timers/promises';
import { checkSoundness, countOperations } from '../../../tools/chaos/check/soundness';
import { watchStalls } from '../../../tools/chaos/watches';
import { anHonestRun, aRun } from '../../support/chaos-evidence';
import { withStalls } from '../../support/chaos-spoil';

const rulesOf = (evidence: Parameters<typeof checkSoundness>[0]) =>
  checkSoundness(evidence).map(({ rule }) => rule);

test('a run in which most was served says something', () => {
  expect(checkSoundness(anHonestRun().run.evidence())).toEqual([]);
});

/** Operations of which so many are accepted, rejected by state, rejected as invalid, and lost. */
function runOf(accepted: number, rejected: number, invalid: number, lost: number) {
  const run = aRun();
  const times = (count: number, push: (n: number) => void) =>
    Array.from({ length: count }, (_, n) => push(n));
  times(accepted, () => run.push('upsert'));
  times(rejected, (n) => run.push('status', { externalId: `none-${n}` }));
  times(invalid, () => run.push('upsert', { title: ' ' }));
  times(lost, () => run.push('upsert', {}, { end: 'lost', fate: 'unseen' }));
  return run.evidence();
}

test.each<[string, [number, number, number, number], string[]]>([
  ['half is served', [1, 1, 0, 2], []],
  ['fewer than half are', [1, 0, 0, 2], ['served']],
  ['only what does not pass is told so', [1, 0, 9, 2], ['served']],
  ['everything is rejected', [0, 5, 0, 0], ['served']],
  ['nobody sends anything', [0, 0, 0, 0], ['served']],
])('where %s', (_what, counts, rules) => {
  expect(rulesOf(runOf(...counts))).toEqual(rules);
});

test('operations count once, by what settled them in the end', () => {
  const run = aRun();
  const lost = run.push('upsert', {}, { end: 'lost', fate: 'unseen', key: 'a' });
  run.retry(lost);
  const given = run.push('upsert', {}, { end: 'BACKLOG_FULL', fate: 'unseen' });
  run.retry(given, { end: 'lost', fate: 'unseen' });
  run.push('status', { externalId: 'none' });
  const { attempts } = run.evidence().history;
  expect(countOperations(attempts)).toEqual({
    operations: 3,
    accepted: 1,
    rejected: 1,
    givenUp: 1,
  });
});

test('where the harness stood still for more than a tenth of the run, nothing was measured', () => {
  const run = aRun();
  run.push('upsert', {}, { at: [1_000, 1_010] });
  run.push('upsert', {}, { at: [2_000, 3_000] });
  const evidence = run.evidence();
  expect(rulesOf(withStalls(evidence, { from: 500, to: 1_200 }))).toEqual([]);
  expect(rulesOf(withStalls(evidence, { from: 500, to: 1_201 }))).toEqual(['measurable']);
});

test('a harness that stands still knows it', async () => {
  const watch = watchStalls();
  await sleep(120);
  const from = performance.now();
  while (performance.now() < from + 400);
  const to = performance.now();
  await sleep(120);
  const stall = watch.stop().find((span) => span.from < to && span.to >= to);
  expect(stall?.from).toBeLessThan(from + 60);
});
