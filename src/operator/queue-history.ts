/** Keeps a history of the last hour in memory: the waiting pushes, and the outages of MongoDB and Redis. */

import type { Connection } from 'mongoose';
import { startPollLoop, systemClock } from '../concurrency/timing';
import type { Logger } from '../infra/logger';
import { type Outage, type Outages, SERVERS, type ServerName } from '../infra/outages';
import type { RedisConnection } from '../infra/redis/connect';
import type { PartitionBacklog } from '../observability/observability';
import type { RedisKeys } from '../queue/keys';

export interface QueueSample {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Waiting pushes in all partitions; null if Redis was unavailable. */
  readonly waiting: number | null;
  /** Age of the oldest waiting push; null if no push waits or Redis was unavailable. */
  readonly oldestMs: number | null;
}

export interface NotedOutage extends Outage {
  readonly server: ServerName;
}

export interface QueueHistory {
  /** The samples, oldest first. */
  samples(): readonly QueueSample[];
  outages(): readonly NotedOutage[];
  stop(): Promise<void>;
}

/** Milliseconds that the history covers. */
export const HISTORY = 3_600_000;
/** Minimum milliseconds between two samples. */
const INTERVAL = 12_000;
const MAX_OUTAGES = 100;

/** @param readBacklogs rejects if Redis is unavailable */
export function startQueueHistory(
  readBacklogs: () => Promise<readonly PartitionBacklog[]>,
  outagesOfProcess: Outages,
  clock = systemClock,
): QueueHistory {
  let samples: QueueSample[] = [];
  const outages = new Map<string, NotedOutage>();
  const note = async () => {
    for (const server of SERVERS) {
      const last = outagesOfProcess.last(server);
      if (last) outages.set(`${server} ${last.since}`, { server, ...last });
    }
    for (const [key, { server, since, until }] of outages) {
      // The end of an earlier outage without `until` is unknown. Then the start decides when the entry is deleted.
      const isLast = outagesOfProcess.last(server)?.since === since;
      const end = until ?? (isLast ? clock() : since);
      if (end < clock() - HISTORY || outages.size > MAX_OUTAGES) outages.delete(key);
    }
    const sample = await readBacklogs().then(sumOf, () => ({ waiting: null, oldestMs: null }));
    const at = clock();
    samples = [...samples.filter((old) => old.at > at - HISTORY), { at, ...sample }];
  };
  // `note` never fails.
  const loop = startPollLoop(note, INTERVAL, () => undefined);
  return {
    samples: () => samples,
    outages: () => [...outages.values()],
    stop: () => loop.stop(),
  };
}

function sumOf(partitions: readonly PartitionBacklog[]): Omit<QueueSample, 'at'> {
  const ages = partitions.flatMap(({ oldestMs }) => oldestMs ?? []);
  return {
    waiting: partitions.reduce((sum, { waiting }) => sum + waiting, 0),
    oldestMs: ages.length > 0 ? Math.max(...ages) : null,
  };
}

export interface OperatorParts {
  readonly name: string;
  /** The setting PORTAL_TIME_ZONE. */
  readonly timeZone: string;
  readonly mongo: Connection;
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  readonly logger: Logger;
  /** OPERATOR_TOKEN; empty: the operator page is read-only. */
  readonly token: string;
}
