/** The goals of a comparison: ratios within one run, and limits for the figures of the product. */
import { sum } from '../harness/figures';
import type { ComparisonRow } from './compare-row';

/** The contenders to which the goals apply. */
const OURS = 'matter-push';
const IN_BATCHES = 'batches';

export interface Verdict {
  readonly goal: string;
  readonly seen: string;
  readonly passed: boolean;
}

/** Judges each goal whose series were measured. */
export function verdicts(rows: readonly ComparisonRow[], goals = GOALS): Verdict[] {
  return goals.flatMap(({ goal, min, max, look }) => {
    const seen = look(rows);
    if (seen === undefined) return [];
    const [bound, limit] = max === undefined ? ['least', min ?? 0] : ['most', max];
    const passed = max === undefined ? seen >= limit : seen <= limit;
    return [{ goal: `${goal}: at ${bound} ${limit}`, seen: seen.toFixed(2), passed }];
  });
}

/** A goal has a lower limit (`min`) or an upper limit (`max`). */
interface Goal {
  readonly goal: string;
  readonly min?: number;
  readonly max?: number;
  /** @returns the measured figure; undefined if it was not measured */
  readonly look: (rows: readonly ComparisonRow[]) => number | undefined;
}

/** The only goal of a comparison of two builds. */
export const NO_FAILURES: readonly Goal[] = [
  { goal: 'pushes that were rejected or failed', max: 0, look: failures },
];

const GOALS: readonly Goal[] = [
  rateGoal('distinct-64', 'direct', 3),
  rateGoal('distinct-256', 'direct', 4),
  rateGoal('hot-256', 'direct', 5),
  rateGoal('hot-256', 'bullmq-shards', 20),
  rateGoal('distinct-256', 'web-only', 0.2),
  {
    goal: 'distinct-256: p99 / p50 of direct',
    max: 0.5,
    look: against('distinct-256', 'direct', (ours, direct) => ours.p99 / direct.p50),
  },
  { goal: 'distinct-256: CPU per push, µs', max: 650, look: ours('distinct-256', 'cpu') },
  batchGoal('direct', 8),
  batchGoal('matter-push', 2.5),
  batchGoal('bulk-write', 0.75),
  {
    goal: 'batch-200x8: CPU per push, µs',
    max: 300,
    look: (rows) => find(rows, 'batch-200x8', IN_BATCHES)?.cpu,
  },
  {
    goal: 'distinct-1: p50 / direct',
    max: 1.3,
    look: against('distinct-1', 'direct', (alone, direct) => alone.p50 / direct.p50),
  },
  {
    goal: 'distinct-1: database commands per push',
    max: 4,
    look: ours('distinct-1', 'databaseCommands'),
  },
  {
    goal: 'distinct-1: Redis commands per push',
    max: 40,
    look: ours('distinct-1', 'redisCommands'),
  },
  ...[
    [2, 1.8],
    [4, 3.5],
    [8, 6.5],
  ].map(([workers = 0, min = 0]) => ({
    goal: `100 ms database latency, batches of 8: ${workers} workers / 1`,
    min,
    look: betweenSizes('scale-out', { workers }, { workers: 1 }, (row) => row.rate),
  })),
  {
    goal: 'beside a hot key: p99 of the others / without it',
    max: 1.5,
    look: betweenSizes('hot-beside', { hot: 128 }, { hot: 0 }, (row) => row.p99),
  },
  {
    goal: '16 web processes: CPU of Redis per push / 1',
    max: 1.2,
    look: betweenSizes('web-processes', { webs: 16 }, { webs: 1 }, (row) => row.cpuOf.redis ?? 0),
  },
  ...NO_FAILURES,
];

function rateGoal(scenario: string, contender: string, min: number): Goal {
  const look = against(scenario, contender, (one, other) => ratio(one.rate, other));
  return { goal: `${scenario}: rate / ${contender}`, min, look };
}

function batchGoal(contender: string, min: number): Goal {
  const look = between('batch-200x8', IN_BATCHES, contender, (one, other) =>
    ratio(one.rate, other),
  );
  return { goal: `batch-200x8: rate / ${contender}`, min, look };
}

/**
 * @returns the ratio of the rates. NaN, which misses every goal, if the other contender had failures or no pushes:
 *   its rate then says nothing about its design
 */
const ratio = (one: number, { rate, failed }: ComparisonRow) =>
  rate > 0 && failed === 0 ? one / rate : Number.NaN;

function against(
  scenario: string,
  contender: string,
  compare: (ours: ComparisonRow, other: ComparisonRow) => number,
): Goal['look'] {
  return between(scenario, OURS, contender, compare);
}

/** Compares two contenders. Both may be the product: single pushes and batches. */
function between(
  scenario: string,
  one: string,
  other: string,
  compare: (one: ComparisonRow, other: ComparisonRow) => number,
): Goal['look'] {
  return (rows) => {
    const [first, second] = [one, other].map((name) => find(rows, scenario, name));
    return first && second && compare(first, second);
  };
}

function ours(scenario: string, figure: 'cpu' | 'databaseCommands' | 'redisCommands') {
  return (rows: readonly ComparisonRow[]) => find(rows, scenario, OURS)?.[figure];
}

/** Divides a figure of the product in one size by the same figure in another size. */
function betweenSizes(
  scenario: string,
  large: Partial<ComparisonRow>,
  small: Partial<ComparisonRow>,
  figure: (row: ComparisonRow) => number,
): Goal['look'] {
  return (rows) => {
    const [one, other] = [large, small].map((size) => find(rows, scenario, OURS, size));
    return one && other && figure(one) / figure(other);
  };
}

function failures(rows: readonly ComparisonRow[]): number | undefined {
  const own = rows.filter(({ contender }) => {
    const [name] = contender.split(',');
    return name === OURS || name === IN_BATCHES;
  });
  return own.length === 0 ? undefined : sum(own.map(({ failed }) => failed));
}

function find(
  rows: readonly ComparisonRow[],
  scenario: string,
  contender: string,
  { webs, workers, hot }: Partial<ComparisonRow> = {},
): ComparisonRow | undefined {
  return rows.find(
    (row) =>
      row.scenario === scenario &&
      row.contender === contender &&
      (webs ?? row.webs) === row.webs &&
      (workers ?? row.workers) === row.workers &&
      (hot ?? row.hot) === row.hot,
  );
}
