/**
 * Finds stuck partitions: partitions that make no progress. `STUCK` lists the causes. One read is not enough, because a
 * healthy partition can briefly look stuck.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SWEEP_INTERVAL } from '../balance';
import type { PartitionView } from './view';

export const STUCK = {
  NO_JOB: 'the partition has pushes but no job: no worker schedules jobs, or every job fails',
  PAUSED: 'the queue was paused with BullMQ: run "matterctl queue unpause"',
  NOT_TAKEN: 'the job of the partition waits, and no worker takes jobs',
  LOCK_GONE:
    'the worker of the job stopped renewing the lock, and no other worker has taken the job',
} as const;

export interface StuckPartition {
  readonly partition: number;
  readonly why: keyof typeof STUCK;
}

export interface StuckReport {
  readonly partitions: readonly PartitionView[];
  readonly stuck: readonly StuckPartition[];
}

/** Milliseconds between two reads. A sweep and BullMQ's check of expired locks run in this time. */
const PAUSE = 2 * SWEEP_INTERVAL;

export async function findStuck(
  readPartitions: () => Promise<readonly PartitionView[]>,
  pause = PAUSE,
): Promise<StuckReport> {
  const before = await readPartitions();
  const suspects = suspectsIn(before);
  if (suspects.size === 0) return { partitions: before, stuck: [] };
  await sleep(pause);
  const partitions = await readPartitions();
  const after = suspectsIn(partitions);
  const stuck = partitions.flatMap(({ partition }) => {
    const [first, second] = [suspects.get(partition), after.get(partition)];
    const isSame = first && second && first.standstill === second.standstill;
    return isSame ? [{ partition, why: second.why }] : [];
  });
  return { partitions, stuck };
}

/**
 * Finds partitions that have made no progress for at least PAUSE milliseconds.
 *
 * @param clock monotonic, milliseconds
 * @returns a function to call with the result of each read
 */
export function createStuckWatch(
  clock: () => number = () => performance.now(),
): (partitions: readonly PartitionView[]) => StuckPartition[] {
  let suspects: ReadonlyMap<number, Suspect & { readonly since: number }> = new Map();
  return (partitions) => {
    const now = clock();
    suspects = new Map(
      Array.from(suspectsIn(partitions), ([partition, suspect]) => {
        const before = suspects.get(partition);
        const isSame = before?.standstill === suspect.standstill;
        return [partition, isSame ? before : { ...suspect, since: now }] as const;
      }),
    );
    return [...suspects]
      .filter(([, { since }]) => now - since >= PAUSE)
      .map(([partition, { why }]) => ({ partition, why }));
  };
}

interface Suspect {
  readonly why: StuckPartition['why'];
  /** Changes when the partition makes progress. */
  readonly standstill: string;
}

function suspectsIn(partitions: readonly PartitionView[]): Map<number, Suspect> {
  const isAnyJobRunning = partitions.some(({ job }) => job?.isLocked);
  return new Map(
    partitions.flatMap((view) => {
      const why = suspicion(view, isAnyJobRunning);
      if (!why) return [];
      const standstill = [why, view.job?.jobId, view.oldestId].join(' ');
      return [[view.partition, { why, standstill }] as const];
    }),
  );
}

function suspicion(
  { job, waiting }: PartitionView,
  isAnyJobRunning: boolean,
): StuckPartition['why'] | undefined {
  if (!job) return waiting > 0 ? 'NO_JOB' : undefined;
  if (job.state === 'active') return job.isLocked ? undefined : 'LOCK_GONE';
  if (job.isPaused) return 'PAUSED';
  // A running job proves that a worker is alive. A live worker can still take this job.
  return isAnyJobRunning ? undefined : 'NOT_TAKEN';
}
