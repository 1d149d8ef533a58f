/** The rows of the report of a file of pushes. */
import { goalRow, type ReportRow } from '../harness/report';
import { millionRows, type Tenth } from './million';

/** Minimum of pushes for a goal on the memory of processes. */
export const MILLION = 1_000_000;

export interface FileFigures {
  readonly tenths: readonly Tenth[];
  readonly crashes: readonly string[];
  /** Milliseconds from the start of the command to its end, including the time to read the file. */
  readonly elapsed: number;
  readonly pushes: number;
  readonly exitCode: number;
  /** The output of the command with --json. */
  readonly summary: unknown;
  /** Microseconds of processor time per push, by process. */
  readonly cpuPerPush: Readonly<Record<string, number>>;
}

/** Processes still grow in a short run, so the report only shows their memory. */
function withoutMemoryGoal(row: ReportRow): ReportRow {
  const { what, seen } = row;
  return /MiB|redis' process/.test(what) ? { what, seen } : row;
}

/** The figures of a run as rows, most of them with a goal. */
export function fileRows(figures: FileFigures): ReportRow[] {
  const { pushes, elapsed, exitCode, summary, cpuPerPush } = figures;
  const cpu = Object.entries(cpuPerPush);
  const service = cpu.reduce((all, [name, us]) => (name === 'matterctl' ? all : all + us), 0);
  return [
    {
      what: 'pushes per second, from the start of the command to its end',
      seen: `${((pushes * 1_000) / elapsed).toFixed(0)} (${pushes} in ${(elapsed / 1_000).toFixed(1)} s)`,
    },
    ...millionRows(figures).map((row) => (pushes < MILLION ? withoutMemoryGoal(row) : row)),
    {
      what: 'CPU µs per push: the service and its servers; of which',
      seen: `${service}; ${cpu.map(([name, us]) => `${name} ${us}`).join(', ')}`,
    },
    goalRow('exit code of matterctl push', {
      value: exitCode,
      seen: `${exitCode} ${JSON.stringify(summary)}`,
      max: 0,
    }),
  ];
}
