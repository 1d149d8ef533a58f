/** The tables of a comparison: its series, its ratios and its goals. */
import { textTable } from '../harness/report';
import { type BuildRatio, buildRatiosOf } from './compare-builds';
import { NO_FAILURES, type Verdict, verdicts } from './compare-goals';
import { type ComparisonRow, comparisonRowOf } from './compare-row';
import type { Series } from './measure';

/** @returns the tables as text, whether all goals are reached, and the same data for programs */
export function compareReport(measured: readonly Series[]): {
  text: string;
  passed: boolean;
  summary: { rows: ComparisonRow[]; ratios: BuildRatio[]; goals: Verdict[] };
} {
  const rows = measured.map(comparisonRowOf);
  const ratios = buildRatiosOf(measured);
  const goals = ratios.length > 0 ? verdicts(rows, NO_FAILURES) : verdicts(rows);
  const tables = [rowTable(rows), ...(ratios.length > 0 ? [ratioTable(ratios)] : [])];
  const text = [...tables, goalTable(goals)].join('\n\n');
  return { text, passed: goals.every(({ passed }) => passed), summary: { rows, ratios, goals } };
}

function rowTable(rows: readonly ComparisonRow[]): string {
  const head = [
    ...['scenario', 'contender', 'webs', 'workers', 'hot', 'pushes/s', 'rounds'],
    ...['p50 ms', 'p99 ms', 'max ms', 'CPU µs', 'of which'],
    ...['database, redis commands', 'failed'],
  ];
  const lines = rows.map((row) => [
    ...[row.scenario, row.contender, row.webs, row.workers, row.hot, row.rate],
    `${row.slowestRound}-${row.fastestRound}`,
    ...[row.p50, row.p99, row.max].map((ms) => ms.toFixed(1)),
    row.cpu,
    shares(row.cpuOf),
    `${row.databaseCommands.toFixed(2)}, ${row.redisCommands.toFixed(1)}`,
    row.failed,
  ]);
  return textTable(lines, head);
}

/** Formats the processor time by type of process. */
function shares(cpuOf: ComparisonRow['cpuOf']): string {
  const byType = new Map<string, number>();
  for (const [name, cpu] of Object.entries(cpuOf)) {
    const type = name.replace(/-\d+$/, '');
    byType.set(type, (byType.get(type) ?? 0) + cpu);
  }
  return [...byType].map(([type, cpu]) => `${type} ${cpu}`).join(', ');
}

function ratioTable(ratios: readonly BuildRatio[]): string {
  const head = ['scenario', 'contender', 'webs', 'workers', 'hot'];
  const lines = ratios.map(({ scenario, contender, size, figure, ratio, lowest, highest }) => [
    ...[scenario, contender, size.webs, size.workers, size.hot ?? 0],
    ...[figure, ratio.toFixed(3), `${lowest.toFixed(2)}-${highest.toFixed(2)}`],
  ]);
  return textTable(lines, [...head, 'this build / other build', 'median', 'rounds']);
}

function goalTable(goals: readonly Verdict[]): string {
  const lines = goals.map(({ goal, seen, passed }) => [goal, seen, passed ? 'passed' : 'FAILED']);
  return textTable(lines, ['goal', 'seen', '']);
}
