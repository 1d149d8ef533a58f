/**
 * `npm run bench -- simulate-scaling`: simulates the distribution of 1,000 partitions among 1 to 64 workers that
 * start, stop and crash, in virtual time, with the code of the service. Prints fairness, moves and the time to
 * settle. The exit code is 1 if a goal is missed. With --write it draws docs/scaling.svg.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SHARE_EVERY } from '../../src/queue/balance';
import { WORKER_GONE } from '../../src/queue/heartbeat';
import { median } from '../harness/figures';
import { createRandom } from '../harness/random';
import { goalRow, loadReport, type ReportRow, textTable } from '../harness/report';
import type { RunContext } from '../local/run-context';
import { growOneByOne, jump, type Plan, type ScalingChange } from './scaling/changes';
import { type Panel, plot } from './scaling/plot';
import type { PoolPace } from './scaling/pool';

const PARTITIONS = 1_000;
const WORKERS = 64;
/** Lock and check of a stalled job: src/queue/jobs.ts. */
const RECLAIMED = 2_000;
/** A batch on a database that takes 25 ms a command. */
const BATCH = 100;
export const PACE: PoolPace = {
  lookEvery: SHARE_EVERY,
  gone: WORKER_GONE,
  reclaimed: RECLAIMED,
  batch: BATCH,
};

/** @returns the exit code */
export async function run({ root, args }: RunContext): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      write: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const { grown, jumped } = simulate(String(values.seed));
  const { summary, text, passed } = loadReport(
    { rows: rowsOf(grown, jumped), figures: { grown, jumped } },
    undefined,
  );
  if (values.write) writeFileSync(join(root, 'docs/scaling.svg'), plot(panelsOf(grown)));
  const tables = [changesTable(grown.filter(isShown)), changesTable(jumped), text];
  process.stdout.write(values.json ? `${JSON.stringify(summary)}\n` : `${tables.join('\n\n')}\n`);
  return passed ? 0 : 1;
}

export interface Simulated {
  readonly grown: readonly ScalingChange[];
  readonly jumped: readonly ScalingChange[];
}

/** The same seed gives the same figures on every machine. */
export function simulate(seed: string): Simulated {
  const random = createRandom(seed);
  const plan = (name: string): Plan => ({
    partitions: PARTITIONS,
    pace: PACE,
    random: random.fork(name),
  });
  return { grown: growOneByOne(plan('one by one'), WORKERS), jumped: jump(plan('jumps')) };
}

const isShown = ({ workers }: ScalingChange) => Number.isInteger(Math.log2(workers));
const largest = (changes: readonly ScalingChange[], figure: (change: ScalingChange) => number) =>
  Math.max(...changes.map(figure));
/** Moves divided by the minimum of moves. */
const waste = ({ moves, leastMoves }: ScalingChange) => moves / Math.max(1, leastMoves);

function rowsOf(grown: readonly ScalingChange[], jumped: readonly ScalingChange[]): ReportRow[] {
  const all = [...grown, ...jumped];
  const row = (what: string, value: number, max: number, unit = '') =>
    goalRow(what, { value, seen: `${value.toFixed(2)}${unit}`, max }, unit);
  return [
    row(
      'most partitions of a worker / mean',
      largest(all, (change) => change.maxHeld),
      1.25,
    ),
    row('moves / fewest possible, median, one joins', median(grown.map(waste)), 1.5),
    row('moves / fewest possible, median, jumps', median(jumped.map(waste)), 1.5),
    row('longest pause of a partition', largest(all, ({ pause }) => pause) / 1_000, 3, ' s'),
    row('time to settle, longest', largest(all, ({ settled }) => settled) / 1_000, 10, ' s'),
  ];
}

function changesTable(changes: readonly ScalingChange[]): string {
  const lines = changes.map((change) => [
    ...[change.what, change.workers, change.moves, change.leastMoves],
    ...[change.settled, change.pause].map((ms) => `${(ms / 1_000).toFixed(2)} s`),
    ...[change.minHeld.toFixed(2), change.maxHeld.toFixed(2)],
  ]);
  const head = [
    'change',
    'workers',
    'moves',
    'at least',
    'settled in',
    'longest pause',
    'fewest / mean',
    'most / mean',
  ];
  return textTable(lines, head);
}

const [BLUE, GRAY] = ['#0969da', '#8c959f'];

/** The plots for workers that join one at a time. */
function panelsOf(grown: readonly ScalingChange[]): Panel[] {
  const over = (figure: (change: ScalingChange) => number) =>
    grown.map((change) => [change.workers, figure(change)] as const);
  const ideal = {
    name: 'ideal',
    color: GRAY,
    dashed: true,
    points: over(({ workers }) => workers),
  };
  // The worker with the most partitions reaches its limit first. `gained`: the load of the pool at that moment, as a
  // multiple of the maximum load of one worker.
  const gained = over(({ workers, maxHeld }) => workers / maxHeld);
  const later = (points: ReturnType<typeof over>) => points.slice(1);
  return [
    {
      ...{ title: 'Load that the pool carries', yTitle: 'times that of one worker' },
      ...{ yMax: 64, yStep: 16 },
      lines: [ideal, { name: 'simulated', color: BLUE, points: gained }],
    },
    {
      ...{ title: 'Moves when one worker joins', yTitle: 'partitions that change their worker' },
      ...{ yMax: 600, yStep: 100 },
      lines: [
        { name: 'fewest', color: GRAY, dashed: true, points: later(over((one) => one.leastMoves)) },
        { name: 'simulated', color: BLUE, points: later(over(({ moves }) => moves)) },
      ],
    },
    {
      ...{ title: 'Time to settle', yTitle: 'seconds from the start to the last move' },
      ...{ yMax: 6, yStep: 1 },
      lines: [
        {
          ...{ name: 'simulated', color: BLUE, dots: true },
          points: later(over(({ settled }) => settled / 1_000)),
        },
      ],
    },
  ];
}
