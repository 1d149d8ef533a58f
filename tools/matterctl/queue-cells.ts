/** What the commands about the queue print alike: cells of their tables, and notes beside them. */
import { STUCK, type StuckPartition } from '../../src/queue/stuck';
import type { PartitionView } from '../../src/queue/view';
import type { WaitingGroup } from '../../src/queue/waiting-tally';
import { type Cell, note } from './print';
import type { Tool } from './tool';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** `350 ms`, `4.2 s`, `17 min` or `30 h`. @param ms milliseconds; null: there is nothing to tell */
export function age(ms: number | null): string | null {
  if (ms === null) return null;
  if (ms < SECOND) return `${ms} ms`;
  if (ms < 2 * MINUTE) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < 2 * HOUR) return `${Math.floor(ms / MINUTE)} min`;
  return `${Math.floor(ms / HOUR)} h`;
}

/** `waiting`, `active`, or why it is stuck. */
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

/** Says on stderr which partitions are stuck, and why. */
export function tellStuck({ stderr }: Tool, stuck: readonly StuckPartition[]): void {
  for (const { partition, why } of stuck)
    note(stderr, `Partition ${partition} is stuck: ${STUCK[why]}.`);
}

/** Says on stderr that not all pushes were counted. */
export function tellCut({ stderr }: Tool, cutPartitions: readonly number[]): void {
  if (cutPartitions.length === 0) return;
  note(
    stderr,
    `Not all were counted: only the oldest pushes of partition ${cutPartitions.join(', ')}, there are so many.`,
  );
}
