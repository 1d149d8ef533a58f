/** Each heartbeat writes a record of the process to Redis, for example for `matterctl status`. */
import { hostname } from 'node:os';
import { z } from 'zod';
import { type PollLoop, startPollLoop } from '../concurrency/timing';
import type { Lifecycle } from '../infra/lifecycle';
import type { Logger } from '../infra/logger';
import { outagesOf, SERVERS } from '../infra/outages';
import { defineScript } from '../infra/redis/commands';
import type { RedisConnection } from '../infra/redis/connect';
import { VERSION } from '../protocol/version';
import { layoutText, type RedisKeys } from './keys';

const outage = z.object({
  /** Epoch milliseconds, by the clock of the process. */
  since: z.number(),
  /** Epoch milliseconds; null during the outage. */
  until: z.number().nullable(),
  error: z.string(),
});

const processRecord = z.object({
  /** The name in the log lines of the process. */
  name: z.string(),
  type: z.enum(['web', 'worker']),
  host: z.string(),
  pid: z.number(),
  version: z.string(),
  uptimeMs: z.number(),
  state: z.enum(['ready', 'draining']),
  /** The current work, for example the number of pushes in flight. */
  work: z.record(z.string(), z.number()),
  /** The last outage of each server. */
  outages: z.object({ mongodb: outage.optional(), redis: outage.optional() }),
  /** RATE_LIMIT of a web process; 0: no limit. */
  defaultRate: z.number().optional(),
});
type ProcessRecord = z.infer<typeof processRecord>;

export interface SeenProcess extends ProcessRecord {
  /** Milliseconds since the last heartbeat. */
  readonly silentMs: number;
  /** Whether the process is probably dead: `silentMs` exceeds SILENT. */
  readonly isSilent: boolean;
}

/** Milliseconds between two heartbeats of a web process, randomly up to 50 % longer. */
const INTERVAL = 2_000;
/** Milliseconds without a heartbeat after which a process counts as silent. */
const SILENT = 4.5 * INTERVAL;
/** Milliseconds without a heartbeat after which a worker counts as dead. */
export const WORKER_GONE = 2_000;
/** Milliseconds for which Redis keeps the record of a process after its last heartbeat. */
const FORGET = 600_000;
/** Maximum records in Redis. */
const MAX_PROCESSES = 500;

/** Ignores records that this version cannot read. */
export async function readProcesses(
  redis: RedisConnection,
  keys: RedisKeys,
): Promise<SeenProcess[]> {
  const [[seconds, microseconds], records] = await Promise.all([
    redis.time(),
    redis.hgetall(keys.processes),
  ]);
  const now = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  return Object.values(records)
    .flatMap((text) => parse(text, now) ?? [])
    .sort((a, b) => a.type.localeCompare(b.type) || a.name.localeCompare(b.name));
}

/** @param text the time of the heartbeat (epoch milliseconds), a blank, and the record as JSON */
function parse(text: string, now: number): SeenProcess | undefined {
  const end = text.indexOf(' ');
  const silentMs = Math.max(0, now - Number(text.slice(0, end)));
  try {
    const record = processRecord.parse(JSON.parse(text.slice(end + 1)));
    return { ...record, silentMs, isSilent: silentMs > SILENT };
  } catch {
    // Probably another version of the service wrote the record.
    return undefined;
  }
}

interface SharingWorker {
  /** Milliseconds between two heartbeats, randomly up to 50 % longer. */
  readonly interval: number;
  /** Undefined while the worker takes no partitions. */
  ownedPartitions(): number | undefined;
  /** Called after each heartbeat. @param workers number of partitions by worker id */
  onWorkers(workers: ReadonlyMap<string, number>): void;
}

interface OwnRecord {
  readonly work: Record<string, number>;
  readonly defaultRate?: number;
}

interface HeartbeatOptions {
  readonly type: 'web' | 'worker';
  readonly name: string;
  /** Identifies one run of the process. */
  readonly id: string;
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

const OTHER_LAYOUT =
  'REDIS_SHARDS or REDIS_PARTITIONS differs from the values that the queue was created with';

export function createHeartbeat({ id, redis, keys, logger, ...options }: HeartbeatOptions) {
  const { type, name, lifecycle } = options;
  const { processes, processHeartbeats, workers } = keys;
  const run = defineScript<[string, string[]]>(redis, __dirname, 'beat');
  const layout = layoutText(keys);
  const outages = outagesOf(logger);
  let readOwn: () => OwnRecord = () => ({ work: {} });
  let worker: SharingWorker | undefined;
  let loop: PollLoop | undefined;
  const readRecord = (): ProcessRecord => ({
    ...{ type, name, host: hostname(), pid: process.pid, version: VERSION },
    uptimeMs: Math.round(process.uptime() * 1_000),
    state: lifecycle.isStopping() ? 'draining' : 'ready',
    outages: Object.fromEntries(SERVERS.map((server) => [server, outages.last(server)])),
    ...readOwn(),
  });
  const beat = async () => {
    const owned = worker?.ownedPartitions() ?? '';
    const limits = [FORGET, MAX_PROCESSES, WORKER_GONE];
    const [recorded, counts] = await run(
      [processes, processHeartbeats, workers, keys.layout],
      [id, JSON.stringify(readRecord()), layout, owned, ...limits],
    );
    if (recorded !== layout) logger.error({ own: layout, layout: recorded }, OTHER_LAYOUT);
    worker?.onWorkers(readCounts(counts));
  };
  lifecycle.onStop('heartbeat', async () => {
    if (!loop) return;
    await loop.stop();
    // These commands must form one transaction: a record without an entry in `processHeartbeats` does not expire.
    const leave = redis.multi().hdel(processes, id).zrem(processHeartbeats, id).hdel(workers, id);
    // If Redis is unavailable, the record expires later.
    await leave.exec().catch(() => undefined);
  });
  return {
    /** @throws the connection's error */
    beat,
    start: (read: typeof readOwn, sharing?: SharingWorker): void => {
      readOwn = read;
      worker = sharing;
      loop = startPollLoop(beat, sharing?.interval ?? INTERVAL, (error) =>
        logger.debug({ error: String(error) }, 'heartbeat not written, retrying'),
      );
    },
  };
}

function readCounts(answer: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (let n = 0; n < answer.length; n += 2) counts.set(String(answer[n]), Number(answer[n + 1]));
  return counts;
}
