/** Folding: what a batch makes of all waiting pushes of one matter, and that it makes it only once. */
import fc from 'fast-check';
import {
  type FoldablePush,
  type FoldResult,
  fold,
  type PriorResult,
} from '../../../src/domain/fold';
import type { Matter } from '../../../src/domain/matter';
import { operations } from '../../support/arbitraries';
import { aDelete, aMatter, anUpsert, aStatus, decisionContext } from '../../support/builders';

type Push = FoldablePush & { readonly id: string };
const NONE: ReadonlyMap<string, PriorResult> = new Map();

/** Few keys, so that repeats are common; an undefined one is a push without a key. */
const idempotencyFingerprint = fc.constantFrom(undefined, 'k1', 'k2', 'k3');
const partition: fc.Arbitrary<Push[]> = fc
  .array(fc.record({ operation: operations, idempotencyFingerprint }), { maxLength: 12 })
  .map((pushes) =>
    pushes.map(({ operation, idempotencyFingerprint: key }, index) => ({
      id: `push-${index}`,
      operation,
      ...(key !== undefined && { idempotencyFingerprint: key }),
    })),
  );
const keyedPartition = partition.map((pushes) =>
  pushes.map((push) => ({ ...push, idempotencyFingerprint: push.id })),
);
const start: fc.Arbitrary<Matter | undefined> = fc.constantFrom(
  undefined,
  aMatter({ sourceUpdatedAt: 3 }),
  aMatter({ deleted: true, phase: 'DELETED', sourceUpdatedAt: 3 }),
);

/** What the push log knows after these pushes were settled. */
function settled(pushes: readonly Push[], results: readonly FoldResult[]) {
  const known = new Map<string, PriorResult>();
  pushes.forEach(({ id, idempotencyFingerprint: key }, index) => {
    const result = results[index];
    if (key === undefined || result?.decision.kind !== 'accepted' || result.duplicateOf) return;
    const { outcome, matter } = result.decision;
    if (!known.has(key)) known.set(key, { pushId: id, outcome, matterId: matter.matterId });
  });
  return known;
}

const briefly = ({ decision, duplicateOf }: FoldResult) =>
  decision.kind === 'accepted'
    ? [decision.outcome, decision.matter.matterId, duplicateOf?.pushId]
    : [decision.reason];

test('folding a list at once equals folding it push by push', () => {
  fc.assert(
    fc.property(start, partition, (before, pushes) => {
      const atOnce = fold(before, pushes, decisionContext(), NONE);
      let matter = before;
      const known = new Map<string, PriorResult>();
      const results = pushes.map((push) => {
        const step = fold(matter, [push], decisionContext(), known);
        matter = step.matter;
        for (const [key, priorResult] of settled([push], step.results)) known.set(key, priorResult);
        return step.results[0];
      });
      expect(atOnce.matter).toEqual(matter);
      expect(atOnce.results).toEqual(results);
    }),
    { numRuns: 300 },
  );
});

test('folding a list cut anywhere in two equals folding it at once', () => {
  fc.assert(
    fc.property(start, partition, fc.nat(12), (before, pushes, cut) => {
      const whole = fold(before, pushes, decisionContext(), NONE);
      const first = fold(before, pushes.slice(0, cut), decisionContext(), NONE);
      const known = settled(pushes.slice(0, cut), first.results);
      const second = fold(first.matter, pushes.slice(cut), decisionContext(), known);
      expect(second.matter).toEqual(whole.matter);
      expect([...first.results, ...second.results]).toEqual(whole.results);
    }),
    { numRuns: 300 },
  );
});

test('replaying a partition with its settlements known changes nothing and answers the same', () => {
  fc.assert(
    fc.property(start, keyedPartition, (before, pushes) => {
      const once = fold(before, pushes, decisionContext(), NONE);
      const known = settled(pushes, once.results);
      const accepted = pushes.filter(({ id }) => known.has(id));
      const again = fold(once.matter, accepted, decisionContext(), known);
      expect(again.matter).toBe(once.matter);
      const first = once.results
        .filter(({ decision }) => decision.kind === 'accepted')
        .map(briefly);
      expect(again.results.map(briefly)).toEqual(
        first.map(([outcome, id], index) => [outcome, id, accepted[index]?.id]),
      );
    }),
    { numRuns: 300 },
  );
});

test('the revision counts the operations that changed the matter, and nothing else', () => {
  const said = ({ revision: _, updatedAt: __, ...rest }: Matter) => rest;
  fc.assert(
    fc.property(start, partition, (before, pushes) => {
      const { matter, results } = fold(before, pushes, decisionContext(), NONE);
      const changes = results.filter(({ changed }) => changed);
      expect((matter?.revision ?? 0) - (before?.revision ?? 0)).toBe(changes.length);
      let last = before;
      for (const { decision, changed, duplicateOf } of results) {
        const after = decision.kind === 'accepted' ? decision.matter : last;
        if (!changed) expect(after).toBe(last);
        else expect(last && after && said(after)).not.toEqual(last ? said(last) : null);
        if (duplicateOf || decision.kind === 'rejected') expect(changed).toBe(false);
        last = after;
      }
    }),
    { numRuns: 500 },
  );
});

test('a late retry does not undo what came after it', () => {
  const first = { id: 'p1', operation: anUpsert({ title: 'first' }), idempotencyFingerprint: 'k' };
  const second = { id: 'p2', operation: anUpsert({ title: 'second' }) };
  const retry = { ...first, id: 'p3' };
  const { matter, results } = fold(undefined, [first, second, retry], decisionContext(), NONE);
  expect(matter).toMatchObject({ title: 'second', revision: 2 });
  expect(results[2]).toMatchObject({
    decision: { outcome: 'CREATED' },
    duplicateOf: { pushId: 'p1', outcome: 'CREATED', matterId: 99n },
  });
});

test('a retry of a retry is traced to the first push', () => {
  const push = { operation: anUpsert(), idempotencyFingerprint: 'k' };
  const pushes = ['p1', 'p2', 'p3'].map((id) => ({ ...push, id }));
  const { results } = fold(undefined, pushes, decisionContext(), NONE);
  expect(results.map(({ duplicateOf }) => duplicateOf?.pushId)).toEqual([undefined, 'p1', 'p1']);
});

test('a failure is never replayed', () => {
  const status = (id: string) => ({
    id,
    operation: aStatus({ bizStatus: 'DONE' }),
    idempotencyFingerprint: 'k',
  });
  const pushes = [status('p1'), { id: 'p2', operation: anUpsert() }, status('p3')];
  const { matter, results } = fold(undefined, pushes, decisionContext(), NONE);
  expect(results.map((result) => briefly(result)[0])).toEqual([
    'MATTER_NOT_FOUND',
    'CREATED',
    'UPDATED',
  ]);
  expect(results[2]?.duplicateOf).toBeUndefined();
  expect(matter?.bizStatus).toBe('DONE');
});

test('pushes without a key are each applied', () => {
  const pushes = [anUpsert(), aDelete(), anUpsert()].map((operation, index) => ({
    id: `p${index}`,
    operation,
  }));
  const { results } = fold(undefined, pushes, decisionContext(), NONE);
  expect(results.map((result) => briefly(result)[0])).toEqual(['CREATED', 'DELETED', 'REVIVED']);
});
