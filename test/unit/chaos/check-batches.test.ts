/** The checker of chaos runs: batches, whose lines are held to every rule, and to their order. */
import fc from 'fast-check';
import { Types } from 'mongoose';
import { check } from '../../../tools/chaos/check/check';
import type { BatchAnswer } from '../../../tools/chaos/history';
import { aRun, idOf, type SentLine } from '../../support/chaos-evidence';
import { brokenRules, withAnswer, withBatchAnswers, withEntry } from '../../support/chaos-spoil';

const label = (externalStatusLabel: string) => ({ externalStatusLabel });
const upsert: SentLine = { name: 'upsert', body: { externalId: 'A-1' } };
const status = (text: string, how: Partial<SentLine> = {}): SentLine => {
  return { name: 'status', body: { externalId: 'A-1', ...label(text) }, ...how };
};
const away = { fate: 'DATABASE_UNAVAILABLE' } as const;
const skipped = { fate: 'SKIPPED_AFTER_FAILURE' } as const;

/** One batch of one matter's life, with what may become of a line, between single pushes. */
function aBatchRun() {
  const run = aRun();
  run.push('upsert', { externalId: 'A-1' });
  const sent = run.batch([
    upsert,
    status('two', { key: 'k' }),
    { name: 'upsert', body: { externalId: 'A-1', title: ' ' } },
    { name: 'status', body: { externalId: 'B-1', ...label('none') } },
    status('three', away),
    status('four', skipped),
    { name: 'upsert', body: { externalId: 'B-1' } },
  ]);
  run.push('status', { externalId: 'A-1', ...label('five') });
  return { run, sent };
}

test('an honest batch is not accused, whole, in part, or without an answer', () => {
  const { run, sent } = aBatchRun();
  run.batch([upsert, status('six')]);
  run.batch([status('seven'), status('eight', { fate: 'unseen', end: 'BACKLOG_FULL' })]);
  run.batch([status('nine'), status('ten')], { isLost: true });
  const [, keyed] = sent;
  if (keyed) run.retry(keyed);
  expect(check(run.evidence())).toEqual([]);
});

test('lines of one matter that took effect in another order are found', () => {
  const run = aRun();
  const [, second, third] = run.batch([upsert, status('two'), status('three')]);
  if (!second || !third) throw new Error('no lines');
  const exchanged = withEntry(
    withEntry(run.evidence(), second, { revision: 3, bodyHash: third.requestId }),
    third,
    { revision: 2 },
  );
  expect(brokenRules(exchanged)).toContain('batch-order');
});

test('a line that is applied after one that failed for want of a server is found', () => {
  const run = aRun();
  run.batch([upsert, status('two', away), status('three')]);
  expect(brokenRules(run.evidence())).toEqual(['batch-order']);
  const expired = aRun();
  expired.batch([
    upsert,
    status('two', { fate: 'expired', end: 'CONFIRMATION_TIMEOUT' }),
    status('three'),
  ]);
  expect(brokenRules(expired.evidence())).toEqual(['batch-order']);
});

test.each<[string, SentLine]>([
  ['of another matter', { name: 'upsert', body: { externalId: 'B-1' }, ...away }],
  ['that failed by itself', { name: 'upsert', body: { externalId: 'A-1', title: ' ' } }],
])('a line that is skipped after one %s is found', (_which, first) => {
  const run = aRun();
  run.batch([first, { ...upsert, ...skipped }]);
  expect(brokenRules(run.evidence())).toEqual(['batch-order']);
});

test('a line without an effect is placed after the earlier ones, and before the later ones', () => {
  const run = aRun();
  // Told by a state that only a later line of its batch made.
  const [early] = run.batch([{ name: 'delete', body: { externalId: 'A-1' } }, upsert]);
  expect(check(run.evidence())).toEqual([]);
  if (!early) throw new Error('no line');
  const late = aRun();
  const [, , gone] = late.batch([
    upsert,
    { name: 'delete', body: { externalId: 'A-1' } },
    status('late'),
  ]);
  expect(check(late.evidence())).toEqual([]);
  if (!gone) throw new Error('no line');
  const notFound = { result: 'MATTER_NOT_FOUND' };
  const told = withAnswer(late.evidence(), gone, {
    code: 404,
    status: 404,
    reason: notFound.result,
  });
  expect(brokenRules(withEntry(told, gone, notFound))).toEqual(['placeable']);
});

test.each<[string, Partial<BatchAnswer>]>([
  ['status', { status: 200 }],
  ['code', { code: 0, status: 200, reason: undefined }],
  ['count', { succeeded: 7, failed: 0 }],
  ['total', { total: 6 }],
  ['order', { lineNumbers: [2, 1, 3, 4, 5, 6, 7] }],
  ['number of results', { lineNumbers: [1, 2, 3] }],
  ['id', { requestId: idOf(77) }],
])('an answer with another %s than its lines have is found', (_what, change) => {
  expect(brokenRules(withBatchAnswers(aBatchRun().run.evidence(), change))).toEqual([
    'batch-answer',
  ]);
});

test.each([
  ['another line', { batchLine: 3 }],
  ['another batch', { batchId: new Types.ObjectId(idOf(1_000_002)) }],
  ['no batch', { batchId: undefined, batchLine: undefined }],
])('an entry of %s is found', (_which, change) => {
  const { run, sent } = aBatchRun();
  const [, second] = sent;
  if (!second) throw new Error('no line');
  expect(brokenRules(withEntry(run.evidence(), second, change))).toContain('batch-answer');
});

test('one answer to the whole batch is that of each line, and leaves no entry', () => {
  const run = aRun();
  const sent = run.batch([
    { ...upsert, fate: 'unseen', end: 'BACKLOG_FULL' },
    { ...status('two'), fate: 'unseen', end: 'BACKLOG_FULL' },
  ]);
  const { history } = run.evidence();
  const attempts = history.attempts.map((attempt) => ({
    ...attempt,
    end: { ...attempt.end, requestId: idOf(99), ofBatch: true as const },
  }));
  const whole = { ...history, attempts, batches: [{ request: 1, lines: 2 }] };
  expect(check(run.evidence({ history: whole as typeof history }))).toEqual([]);
  expect(sent).toHaveLength(2);
});

/** Lines of two matters; what a server fails skips the later ones of its matter, as the service does. */
const linesOf = fc
  .array(
    fc.record({
      externalId: fc.constantFrom('A-1', 'A-2'),
      name: fc.constantFrom<SentLine['name'][]>('upsert', 'status', 'reopen', 'delete'),
      label: fc.constantFrom('a', 'b'),
      isAway: fc.boolean(),
      isKeyed: fc.boolean(),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((drawn) => {
    const failed = new Set<string>();
    return drawn.map(({ externalId, name, label: text, isAway, isKeyed }, index): SentLine => {
      const isSkipped = failed.has(externalId);
      if (isAway) failed.add(externalId);
      const fate = isSkipped ? skipped : isAway ? away : {};
      const key = isKeyed ? { key: `k ${index}` } : {};
      return { name, body: { externalId, ...label(text) }, ...key, ...fate };
    });
  });

/** Batches and single pushes that overlap; each is decided as a whole, in the order in which it is named. */
const batchRuns = fc
  .array(fc.record({ lines: linesOf, isLost: fc.boolean(), early: fc.nat(40), late: fc.nat(40) }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((plan) => {
    const run = aRun();
    plan.forEach(({ lines, isLost, early, late }, index) => {
      const instant = 100 + index * 10;
      run.batch(lines, { at: [instant - early, instant + 1 + late], isLost });
      run.push(
        'status',
        { externalId: 'A-1', ...label(`${index}`) },
        { at: [instant, instant + 3] },
      );
    });
    return run.evidence();
  });

test('whatever its batches are, an honest run is not accused', () => {
  fc.assert(fc.property(batchRuns, (evidence) => expect(check(evidence)).toEqual([])));
});

test('whatever its batches are, lines that changed places are found', () => {
  const property = fc.property(batchRuns, (evidence) => {
    const effects = evidence.entries.filter(({ revision, batchId }) => revision && batchId);
    for (const one of effects) {
      const later = effects.find(
        ({ batchId, externalId, batchLine = 0 }) =>
          String(batchId) === String(one.batchId) &&
          externalId === one.externalId &&
          batchLine > (one.batchLine ?? 0),
      );
      if (!later) continue;
      const { batchLine: first } = one;
      const moved = withEntry(
        withEntry(evidence, { requestId: String(one._id) }, { batchLine: later.batchLine }),
        { requestId: String(later._id) },
        { batchLine: first },
      );
      expect(brokenRules(moved)).toContain('batch-order');
    }
  });
  fc.assert(property);
});
