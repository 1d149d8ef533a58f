/** The table of a comparison, and its goals: ratios within one run. */
import Table from 'cli-table3';
import { median } from '../harness/figures';
import type { RoundFigures, Series } from './measure';

/** One series in one line: medians over its rounds. */
export interface Row {
  readonly scenario: string;
  readonly contender: string;
  readonly webs: number;
  readonly workers: number;
  /** Pushes per second. */
  readonly rate: number;
  readonly slowestRound: number;
  readonly fastestRound: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Microseconds per push: everything but the generator. */
  readonly cpu: number;
  readonly cpuOf: Readonly<Record<string, number>>;
  /** Sent to the servers per push. */
  readonly databaseCommands: number;
  readonly redisCommands: number;
  /** Answers other than code 0. */
  readonly failed: number;
}

export interface Verdict {
  readonly goal: string;
  readonly seen: string;
  readonly passed: boolean;
}

export function compareReport(measured: readonly Series[]): {
  text: string;
  passed: boolean;
  summary: { rows: Row[]; goals: Verdict[] };
} {
  const rows = measured.map(rowOf);
  const goals = verdicts(rows);
  const text = `${rowTable(rows)}\n\n${goalTable(goals)}`;
  return { text, passed: goals.every(({ passed }) => passed), summary: { rows, goals } };
}

function rowOf({ scenario, contender, size, rounds }: Series): Row {
  const of = (figure: (round: RoundFigures) => number) => median(rounds.map(figure));
  const rates = rounds.map(({ accepted, elapsed }) => Math.round((accepted / elapsed) * 1_000));
  const cpuOf = Object.fromEntries(
    Object.keys(rounds[0]?.cpuPerPush ?? {}).map((name) => [
      name,
      of(({ cpuPerPush }) => cpuPerPush[name] ?? 0),
    ]),
  );
  const { generator: _, ...own } = cpuOf;
  return {
    ...{ scenario, contender, webs: size.webs, workers: size.workers },
    rate: median(rates),
    slowestRound: Math.min(...rates),
    fastestRound: Math.max(...rates),
    ...{
      p50: of(({ p50 }) => p50),
      p99: of(({ p99 }) => p99),
      max: Math.max(...rounds.map(({ max }) => max)),
    },
    cpu: Object.values(own).reduce((sum, one) => sum + one, 0),
    cpuOf,
    databaseCommands: of(({ commands }) => commands.database),
    redisCommands: of(({ commands }) => commands.redis),
    failed: rounds.flatMap(({ others }) => Object.values(others)).reduce((sum, n) => sum + n, 0),
  };
}

/** A goal is judged where what it compares was measured. */
function verdicts(rows: readonly Row[]): Verdict[] {
  const found = (scenario: string, contender = 'matter-push', size: Partial<Row> = {}) =>
    rows.find(
      (row) =>
        row.scenario === scenario &&
        row.contender === contender &&
        (size.webs ?? row.webs) === row.webs &&
        (size.workers ?? row.workers) === row.workers,
    );
  const all: Verdict[] = [];
  const hold = (goal: string, seen: number, limit: number, atMost = false) => {
    const passed = atMost ? seen <= limit : seen >= limit;
    all.push({
      goal: `${goal}: at ${atMost ? 'most' : 'least'} ${limit}`,
      seen: seen.toFixed(2),
      passed,
    });
  };
  const rateAgainst = (scenario: string, contender: string, limit: number) => {
    const ours = found(scenario);
    const other = found(scenario, contender);
    if (!ours || !other) return;
    hold(`${scenario}: rate / ${contender}`, ratio(ours.rate, other), limit);
  };
  rateAgainst('distinct-64', 'direct', 3);
  rateAgainst('distinct-256', 'direct', 4);
  rateAgainst('hot-256', 'direct', 5);
  rateAgainst('hot-256', 'bullmq-shards', 20);
  rateAgainst('distinct-256', 'web-only', 0.2);
  const busy = found('distinct-256');
  const direct = found('distinct-256', 'direct');
  if (busy && direct) hold('distinct-256: p99 / p50 of direct', busy.p99 / direct.p50, 0.5, true);
  if (busy) hold('distinct-256: CPU per push, µs', busy.cpu, 650, true);
  const alone = found('distinct-1');
  const directAlone = found('distinct-1', 'direct');
  if (alone && directAlone) {
    hold('distinct-1: p50 / direct', alone.p50 / directAlone.p50, 1.3, true);
  }
  if (alone) {
    hold('distinct-1: database commands per push', alone.databaseCommands, 5, true);
    hold('distinct-1: Redis commands per push', alone.redisCommands, 40, true);
  }
  const one = found('workers', undefined, { workers: 1 });
  const four = found('workers', undefined, { workers: 4 });
  if (one && four)
    hold('5 ms database latency, one turn at a time: 4 workers / 1', four.rate / one.rate, 3.5);
  const lone = found('web-processes', undefined, { webs: 1 });
  const many = found('web-processes', undefined, { webs: 16 });
  if (lone && many) {
    const redis = (row: Row) => row.cpuOf.redis ?? 0;
    hold('16 web processes: CPU of Redis per push / 1', redis(many) / redis(lone), 1.2, true);
  }
  const ours = rows.filter(({ contender }) => contender === 'matter-push');
  if (ours.length > 0) {
    const failed = ours.reduce((sum, row) => sum + row.failed, 0);
    hold('pushes that were rejected or failed', failed, 0, true);
  }
  return all;
}

/**
 * Not a number, and so no goal reached, where there is nothing to compare with: one that fails is slow
 * for another reason.
 */
const ratio = (one: number, { rate, failed }: Row) =>
  rate > 0 && failed === 0 ? one / rate : Number.NaN;

function rowTable(rows: readonly Row[]): string {
  const table = new Table({
    head: [
      ...['scenario', 'contender', 'webs', 'workers', 'pushes/s', 'rounds'],
      ...['p50 ms', 'p99 ms', 'max ms', 'CPU µs', 'of which'],
      ...['database, redis commands', 'failed'],
    ],
    style: { head: [], border: [] },
  });
  for (const row of rows) {
    table.push([
      ...[row.scenario, row.contender, row.webs, row.workers, row.rate],
      `${row.slowestRound}-${row.fastestRound}`,
      ...[row.p50, row.p99, row.max].map((ms) => ms.toFixed(1)),
      row.cpu,
      shares(row.cpuOf),
      `${row.databaseCommands.toFixed(2)}, ${row.redisCommands.toFixed(1)}`,
      row.failed,
    ]);
  }
  return table.toString();
}

/** By type of process. */
function shares(cpuOf: Row['cpuOf']): string {
  const byType = new Map<string, number>();
  for (const [name, cpu] of Object.entries(cpuOf)) {
    const type = name.replace(/-\d+$/, '');
    byType.set(type, (byType.get(type) ?? 0) + cpu);
  }
  return [...byType].map(([type, cpu]) => `${type} ${cpu}`).join(', ');
}

function goalTable(goals: readonly Verdict[]): string {
  const table = new Table({ head: ['goal', 'seen', ''], style: { head: [], border: [] } });
  for (const { goal, seen, passed } of goals)
    table.push([goal, seen, passed ? 'passed' : 'FAILED']);
  return table.toString();
}
