/** What no server remembers: how much waited in the last hour, and when this process missed its servers. */
import { systemClock } from '../concurrency/clock';
import { startPollLoop } from '../concurrency/poll-loop';
import { type Outage, type Outages, SERVERS, type ServerName } from '../runtime/outages';

export interface QueueSample {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Pushes in all partitions; null where Redis did not tell. */
  readonly waiting: number | null;
  /** Milliseconds for which the oldest one waits. */
  readonly oldestMs: number | null;
}

export interface NotedOutage extends Outage {
  readonly server: ServerName;
}

export interface QueueHistory {
  /** The oldest first. */
  samples(): readonly QueueSample[];
  outages(): readonly NotedOutage[];
  stop(): Promise<void>;
}

interface PartitionAge {
  readonly waiting: number;
  readonly oldestMs: number | null;
}

export const HISTORY = 3_600_000;
/** Milliseconds between two looks, lengthened by up to half at random. */
const INTERVAL = 12_000;
const MOST_OUTAGES = 100;

/** @param look rejects where Redis cannot be asked */
export function startQueueHistory(
  look: () => Promise<readonly PartitionAge[]>,
  ofProcess: Outages,
  clock = systemClock,
): QueueHistory {
  let samples: QueueSample[] = [];
  const outages = new Map<string, NotedOutage>();
  const note = async () => {
    for (const server of SERVERS) {
      const last = ofProcess.last(server);
      if (last) outages.set(`${server} ${last.since}`, { server, ...last });
    }
    for (const [key, { since }] of outages) {
      if (since < clock() - HISTORY || outages.size > MOST_OUTAGES) outages.delete(key);
    }
    const sample = await look().then(sumOf, () => ({ waiting: null, oldestMs: null }));
    const at = clock();
    samples = [...samples.filter((old) => old.at > at - HISTORY), { at, ...sample }];
  };
  // Its only failure is told by the sample.
  const loop = startPollLoop(note, INTERVAL, () => undefined);
  return {
    samples: () => samples,
    outages: () => [...outages.values()],
    stop: () => loop.stop(),
  };
}

function sumOf(partitions: readonly PartitionAge[]): Omit<QueueSample, 'at'> {
  const ages = partitions.flatMap(({ oldestMs }) => oldestMs ?? []);
  return {
    waiting: partitions.reduce((sum, { waiting }) => sum + waiting, 0),
    oldestMs: ages.length > 0 ? Math.max(...ages) : null,
  };
}
