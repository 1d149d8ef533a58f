/**
 * Which partition jobs are stuck. One look cannot tell: between two jobs of a partition there may be
 * none, and a worker's lock may lapse for a moment. So what looks stuck is looked at again, after
 * the sweep and the other workers have had time to mend it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SWEEP_INTERVAL } from './sweep';
import type { PartitionView } from './view';

export const STUCK = {
  NO_JOB: 'its pushes wait, but it has no job: no worker sweeps, or its jobs fail',
  PAUSED: 'the queue was paused with BullMQ: run "matterctl queue unpause"',
  NOT_TAKEN: 'its job waits, and no worker takes jobs',
  LOCK_GONE: 'its worker fell silent, and no other one takes over',
} as const;

export interface StuckPartition {
  readonly partition: number;
  readonly why: keyof typeof STUCK;
}

export interface Look {
  /** As they were last. */
  readonly partitions: readonly PartitionView[];
  readonly stuck: readonly StuckPartition[];
}

/**
 * Milliseconds between the two looks: longer than from one sweep of a worker to its next, and than
 * BullMQ needs to see that a lock is gone.
 */
const PAUSE = 2 * SWEEP_INTERVAL;

/** @param look reads all partitions; it is called once more where something seems stuck */
export async function lookForStuck(
  look: () => Promise<readonly PartitionView[]>,
  pause = PAUSE,
): Promise<Look> {
  const before = await look();
  const suspects = suspectsIn(before);
  if (suspects.size === 0) return { partitions: before, stuck: [] };
  await sleep(pause);
  const partitions = await look();
  const after = suspectsIn(partitions);
  const stuck = partitions.flatMap(({ partition }) => {
    const [first, second] = [suspects.get(partition), after.get(partition)];
    const isSame = first && second && first.standstill === second.standstill;
    return isSame ? [{ partition, why: second.why }] : [];
  });
  return { partitions, stuck };
}

/**
 * The same for somebody who looks again and again and waits for nothing: what has looked stuck for long
 * enough, at each look since.
 *
 * @param clock milliseconds that never go back
 * @returns to be called with each look
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
  /** What would be another if the partition had moved in between. */
  readonly standstill: string;
}

function suspectsIn(partitions: readonly PartitionView[]): Map<number, Suspect> {
  const isWorkDone = partitions.some(({ job }) => job?.isLocked);
  return new Map(
    partitions.flatMap((view) => {
      const why = suspicion(view, isWorkDone);
      if (!why) return [];
      const standstill = [why, view.job?.jobId, view.oldestId].join(' ');
      return [[view.partition, { why, standstill }] as const];
    }),
  );
}

function suspicion(
  { job, waiting }: PartitionView,
  isWorkDone: boolean,
): StuckPartition['why'] | undefined {
  if (!job) return waiting > 0 ? 'NO_JOB' : undefined;
  if (job.state === 'active') return job.isLocked ? undefined : 'LOCK_GONE';
  if (job.isPaused) return 'PAUSED';
  // While another partition's job is under way, this one may wait for its worker.
  return isWorkDone ? undefined : 'NOT_TAKEN';
}
