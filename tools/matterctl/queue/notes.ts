/** What is said beside the tables about the queue, on stderr. */
import { STUCK, type StuckPartition } from '../../../src/queue/stuck';
import type { Tool } from '../tool';

export function tellStuck({ stderr }: Tool, stuck: readonly StuckPartition[]): void {
  for (const { partition, why } of stuck)
    stderr.write(`Partition ${partition} is stuck: ${STUCK[why]}.\n`);
}

export function tellCut({ stderr }: Tool, cutPartitions: readonly number[]): void {
  if (cutPartitions.length === 0) return;
  stderr.write(
    `Not all were counted: only the oldest pushes of partition ${cutPartitions.join(', ')}, there are so many.\n`,
  );
}
