/** Cells and notes that several commands about the queue print. */
import { STUCK, type StuckPartition } from '../../src/queue/inspect/stuck';
import type { PartitionView } from '../../src/queue/inspect/view';
import type { WaitingGroup } from '../../src/queue/inspect/waiting-tally';
import { type Cell, note } from './print';
import type { Tool } from './tool';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Formats a duration as `350 ms`, `4.2 s`, `17 min` or `30 h`. @param ms milliseconds; the result of null is null */
export function age(ms: number | null): string | null {
  if (ms === null) return null;
  if (ms < SECOND) return `${ms} ms`;
  if (ms < 2 * MINUTE) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < 2 * HOUR) return `${Math.floor(ms / MINUTE)} min`;
  return `${Math.floor(ms / HOUR)} h`;
}

/** The state of a partition job, such as `waiting` or `active`, and why the partition is stuck, if it is. */
export function jobState(
  { partition, job }: PartitionView,
  stuck: readonly StuckPartition[],
): string | null {
  const why = stuck.find((one) => one.partition === partition)?.why;
  const state = job?.state ?? null;
  return why ? [state ?? 'none', `STUCK ${why}`].join(', ') : state;
}

export const GROUP_HEAD = ['SYSTEM', 'EXTERNAL ID', 'PARTITION', 'WAITING', 'OLDEST'];

export function groupRow(group: WaitingGroup): Cell[] {
  const { systemCode, externalId, partition, waiting, oldestMs } = group;
  return [systemCode, externalId, partition, waiting, age(oldestMs)];
}

/** Prints on stderr which partitions are stuck, and why. */
export function printStuck({ stderr }: Tool, stuck: readonly StuckPartition[]): void {
  for (const { partition, why } of stuck)
    note(stderr, `Partition ${partition} is stuck: ${STUCK[why]}.`);
}

/** Prints on stderr that not all pushes were counted. */
export function printCut({ stderr }: Tool, cutPartitions: readonly number[]): void {
  if (cutPartitions.length === 0) return;
  note(
    stderr,
    `Not all were counted: only the oldest pushes of partition ${cutPartitions.join(', ')}, there are so many.`,
  );
}
