/**
 * The checker of chaos runs takes short cuts, so that it can look at a key with tens of thousands
 * of pushes. Here they are held against the long way, on small histories.
 */
import fc from 'fast-check';
import { decide } from '../../../src/domain/decide';
import type { Matter } from '../../../src/domain/matter';
import type { Operation } from '../../../src/domain/operation';
import { check } from '../../../tools/chaos/check/check';
import type { Evidence } from '../../../tools/chaos/check/evidence';
import type { States } from '../../../tools/chaos/check/sequential-fold';
import { createStateSearch } from '../../../tools/chaos/check/state-search';
import { operations } from '../../support/arbitraries';
import { accept } from '../../support/bodies';
import { decisionContext } from '../../support/builders';
import { aRun } from '../../support/chaos-evidence';
import { brokenRules } from '../../support/chaos-spoil';
import type { Body } from '../../support/push-bodies';

interface Item {
  readonly operation: Operation;
  readonly sentAt: number;
  readonly toldAt: number;
  readonly state: string;
  readonly result: string;
  readonly revision: number | undefined;
}

/** Whether some order of all pushes keeps real time and gives every one the outcome it had. */
function hasOrder(items: readonly Item[]): boolean {
  const dead = new Set<number>();
  const search = (placed: number, matter: Matter | undefined): boolean => {
    if (placed === 2 ** items.length - 1) return true;
    if (dead.has(placed)) return false;
    const open = items.filter((_, index) => (placed & (1 << index)) === 0);
    const soonest = Math.min(...open.map(({ toldAt }) => toldAt));
    const found = open.some((item) => {
      if (soonest < item.sentAt) return false;
      const decision = decide(matter, item.operation, decisionContext());
      const isSame =
        decision.kind === 'rejected'
          ? item.state === 'REFUSED' && decision.reason === item.result
          : item.state === 'PERSISTED' && decision.outcome === item.result;
      if (!isSame) return false;
      const after = decision.kind === 'accepted' ? decision.matter : matter;
      if ((after === matter ? undefined : after?.revision) !== item.revision) return false;
      return search(placed | (1 << items.indexOf(item)), after);
    });
    if (!found) dead.add(placed);
    return found;
  };
  return search(0, undefined);
}

function itemsOf({ history, entries }: Evidence): Item[] {
  return history.attempts.map((attempt, index) => {
    const { name, body, sentAt, endedAt, end } = attempt;
    const { state, result = '', revision } = entries[index] ?? {};
    const toldAt = end.kind === 'lost' ? Number.POSITIVE_INFINITY : endedAt;
    const { operation } = accept(name, JSON.parse(body) as Body);
    return { operation, sentAt, toldAt, state: state ?? '', result, revision };
  });
}

/** Decided in their order; sent and answered whenever, so that many could not have been so. */
const histories = fc
  .array(
    fc.record({
      name: fc.constantFrom('upsert', 'status', 'delete', 'delete'),
      body: fc.record(
        {
          bizStatus: fc.constantFrom('PENDING', 'DONE'),
          sourceUpdatedAt: fc.integer({ min: 1_700_000_001, max: 1_700_000_003 }),
        },
        { requiredKeys: [] },
      ),
      isLost: fc.boolean(),
      shift: fc.integer({ min: -25, max: 25 }),
      length: fc.integer({ min: 1, max: 30 }),
    }),
    { minLength: 2, maxLength: 9 },
  )
  .map((pushes) => {
    const run = aRun();
    pushes.forEach(({ name, body, isLost, shift, length }, index) => {
      const sentAt = 100 + index * 10 + shift;
      run.push(name, body, { at: [sentAt, sentAt + length], ...(isLost && { end: 'lost' }) });
    });
    return run.evidence();
  });

test('the order is rejected exactly where no order of all pushes would do', () => {
  const verdicts = { right: 0, wrong: 0 };
  fc.assert(
    fc.property(histories, (evidence) => {
      const isRight = hasOrder(itemsOf(evidence));
      verdicts[isRight ? 'right' : 'wrong'] += 1;
      const rules = brokenRules(evidence);
      expect(rules.length === 0).toBe(isRight);
      for (const rule of rules) expect(['real-time', 'placeable']).toContain(rule);
    }),
    // A sixth of the histories is wrong: of 250, fewer than 25 were once.
    { numRuns: 750 },
  );
  // It says something only while both occur.
  expect(Math.min(verdicts.right, verdicts.wrong)).toBeGreaterThan(25);
});

test('no state that a push without an effect can have met is overlooked', () => {
  const names = fc.array(operations, { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(names, operations, fc.nat(20), fc.nat(20), (applied, op, from, width) => {
      const states: (Matter | undefined)[] = [undefined];
      for (const one of applied) {
        const decision = decide(states.at(-1), one, decisionContext());
        const isEffect = decision.kind === 'accepted' && decision.matter !== states.at(-1);
        if (isEffect) states.push(decision.matter);
      }
      expectComplete(states, op, { from, to: Math.min(from + width, states.length - 1) });
    }),
    { numRuns: 500 },
  );
});

function expectComplete(states: States, op: Operation, range: { from: number; to: number }): void {
  const find = createStateSearch(states);
  for (let index = range.from; index <= range.to; index += 1) {
    const before = states[index];
    const decision = decide(before, op, decisionContext());
    const isEffect = decision.kind === 'accepted' && decision.matter !== before;
    if (isEffect) continue;
    const result = decision.kind === 'accepted' ? decision.outcome : decision.reason;
    const found = [...find(op, result, range)];
    expect(found).toContain(index);
    expect(found.every((at) => at >= range.from && at <= range.to)).toBe(true);
  }
}

/** A key with so many effects, and as many other pushes of which nobody knows what became. */
function aBusyKey(effects: number) {
  const run = aRun();
  run.push('upsert');
  for (let i = 0; i < effects; i += 1) {
    run.push('status', { externalStatusLabel: `label ${i}`, sourceUpdatedAt: 1_600_000_000 + i });
    // Nobody was told: it can have met any state after it was sent, and the last one it did not.
    const foreign =
      i % 2 === 0 ? { sourceUpdatedAt: 1_500_000_000 } : { externalStatusLabel: 'no' };
    run.push('status', foreign, { end: 'lost', fate: i % 2 === 0 ? 'decided' : 'MATTER_DELETED' });
  }
  return run.evidence();
}

/** Microseconds of processor time, which other processes have no part in. */
function costOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user;
}

test('the time for a key grows with its effects, and not with their square', () => {
  const [small, large] = [aBusyKey(500), aBusyKey(5_000)];
  const control = costOf(() => check(small));
  let violations: unknown[] = [];
  // By the square it would be a hundred times.
  expect(
    costOf(() => {
      violations = check(large);
    }),
  ).toBeLessThan(40 * control);
  expect(violations).toHaveLength(2_500);
});
