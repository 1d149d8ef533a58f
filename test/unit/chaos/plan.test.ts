/** A fault plan comes from its seed alone, and keeps the rules that a run relies on. */
import fc from 'fast-check';
import { FAULT_KINDS, type FaultKind } from '../../../tools/chaos/history';
import {
  type PlannedFault,
  type PlanOptions,
  planClocks,
  planFaults,
} from '../../../tools/chaos/plan';
import { createRandom } from '../../../tools/harness/random';

const plan = (seed: string, more: Partial<PlanOptions> = {}) =>
  planFaults({ random: createRandom(seed), duration: 120_000, webs: 2, workers: 3, ...more });

const seeds = fc.string();
const settings = fc.record({
  duration: fc.integer({ min: 0, max: 100_000 }),
  webs: fc.integer({ min: 1, max: 4 }),
  workers: fc.integer({ min: 1, max: 4 }),
  mix: fc.record({
    kinds: fc.subarray([...FAULT_KINDS]),
    pace: fc.double({ min: 0.5, max: 8, noNaN: true }),
  }),
});
const plans = fc
  .tuple(seeds, settings)
  .map(([seed, more]) => ({ ...more, faults: plan(seed, more) }));

const over = ({ at, lasts }: PlannedFault) => at + lasts;
const overlap = (one: PlannedFault, other: PlannedFault) =>
  one.at <= over(other) && other.at <= over(one);

test('the same seed gives the same plan, another seed another one', () => {
  fc.assert(
    fc.property(seeds, settings, (seed, more) => {
      expect(plan(seed, more)).toEqual(plan(seed, more));
    }),
  );
  expect(plan('1')).not.toEqual(plan('2'));
});

test('a plan is the same on every machine', () => {
  expect(plan('7').slice(0, 3)).toEqual([
    { at: 1918, kind: 'restart-redis', target: 'redis', lasts: 2243 },
    { at: 2941, kind: 'kill-worker', target: 'worker-1', lasts: 1026 },
    { at: 3913, kind: 'refuse-mongo-worker', target: 'worker-2', lasts: 2330 },
  ]);
});

test('faults come in the order of their starts, and none is there at the end', () => {
  fc.assert(
    fc.property(plans, ({ faults, duration }) => {
      expect(faults).toEqual([...faults].sort((one, other) => one.at - other.at));
      expect(faults.filter((fault) => over(fault) >= duration)).toEqual([]);
    }),
  );
});

test('nothing has two faults at once', () => {
  fc.assert(
    fc.property(plans, ({ faults }) => {
      const pairs = faults.flatMap((one, index) =>
        faults.slice(index + 1).map((other) => [one, other] as const),
      );
      const both = pairs.filter(([one, other]) => one.target === other.target);
      expect(both.filter(([one, other]) => overlap(one, other))).toEqual([]);
    }),
  );
});

test('of several web processes one is always left alone, and a lone one too', () => {
  fc.assert(
    fc.property(plans, ({ faults, webs }) => {
      const ofWebs = faults.filter(({ target }) => target.startsWith('web-'));
      const hitAt = (at: number) =>
        new Set(
          ofWebs.filter((one) => one.at <= at && at <= over(one)).map(({ target }) => target),
        );
      expect(ofWebs.filter(({ at }) => hitAt(at).size >= webs)).toEqual([]);
    }),
  );
});

test('a mix brings its own kinds only, on targets that there are', () => {
  fc.assert(
    fc.property(plans, ({ faults, mix, webs, workers }) => {
      const numbers = { web: webs, worker: workers };
      const fits = ({ kind, target, amount }: PlannedFault) => {
        const [place = '', number] = target.split('-');
        const isNamed =
          kind.endsWith(`-${place}`) || (kind.endsWith('-primary') && place === 'mongo');
        const isThere = place in numbers === (number !== undefined);
        const inRange = Number(number ?? 0) < (numbers[place as keyof typeof numbers] ?? 1);
        const hasAmount = /^(delay|fill|change|outrun)-/.test(kind) === (amount !== undefined);
        return mix.kinds.some((one) => one === kind) && isNamed && isThere && inRange && hasAmount;
      };
      expect(faults.filter((fault) => !fits(fault))).toEqual([]);
    }),
  );
});

// A seed may leave out a rare kind even of a long run: these do not.
test.each(['1', '2', '3'])(
  'a long run has every kind, and some faults at the same time: %s',
  (seed) => {
    const faults = plan(seed, { duration: 5_400_000 });
    const kinds = new Set<FaultKind>(faults.map(({ kind }) => kind));
    expect(FAULT_KINDS.filter((kind) => !kinds.has(kind))).toEqual([]);
    const pairs = faults.slice(1).map((fault, index) => [faults[index], fault] as const);
    expect(pairs.some(([one, other]) => one && overlap(one, other))).toBe(true);
  },
);

test('a faster pace means more faults', () => {
  const kinds = FAULT_KINDS;
  const slow = plan('pace', { mix: { kinds, pace: 0.5 } }).length;
  const fast = plan('pace', { mix: { kinds, pace: 4 } }).length;
  expect(fast).toBeGreaterThan(2 * slow);
});

test('clocks are wrong either way, as the seed says, by no more than they may', () => {
  const counts = { webs: 2, workers: 3 };
  const clocks = (seed: string, maxShift: number) =>
    planClocks(createRandom(seed), counts, maxShift);
  expect([...clocks('1', 0)]).toEqual(
    ['web-0', 'web-1', 'worker-0', 'worker-1', 'worker-2'].map((name) => [name, 0]),
  );
  fc.assert(
    fc.property(seeds, fc.integer({ min: 1, max: 280_000 }), (seed, maxShift) => {
      const shifts = [...clocks(seed, maxShift).values()];
      expect(shifts.filter((shift) => Math.abs(shift) > maxShift)).toEqual([]);
      expect(clocks(seed, maxShift)).toEqual(clocks(seed, maxShift));
    }),
  );
  const many = Array.from({ length: 20 }, (_, n) => [
    ...clocks(String(n), 240_000).values(),
  ]).flat();
  expect(Math.min(...many)).toBeLessThan(-200_000);
  expect(Math.max(...many)).toBeGreaterThan(200_000);
});
