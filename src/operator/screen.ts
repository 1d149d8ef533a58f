/** Builds the data of the operator page (`GET /status`). */
import { createStuckWatch, type StuckPartition } from '../queue/inspect/stuck';
import { MongoStatusReader } from '../status/mongo-status';
import { RedisStatusReader } from '../status/redis-status';
import { readStatus, type ServiceStatus } from '../status/status';
import { alertsOf, type ShownAlert } from './alerts';
import { createHistory, type History } from './history';
import type { OperatorParts, QueueHistory } from './queue-history';

export interface OperatorStatus extends ServiceStatus {
  /** Name of the process that serves the page. */
  readonly process: string;
  readonly timeZone: string;
  /** True: the page can pause and resume clients. */
  readonly canChange: boolean;
  /** Partitions without progress for at least 1 s; null if Redis is unavailable. */
  readonly stuck: readonly StuckPartition[] | null;
  readonly alerts: readonly ShownAlert[];
  readonly history: History;
}

/** Milliseconds for which the status is cached. */
const STATUS_TTL = 1_000;
/** Milliseconds for which the history is cached. */
const HISTORY_TTL = 5_000;

export interface Screen {
  /** Never fails, and ends within seconds. */
  read(): Promise<OperatorStatus>;
  /** Clears the cache after a change. */
  clear(): void;
  close(): Promise<void>;
}

export function createScreen(parts: OperatorParts, queue: QueueHistory): Screen {
  const redisStatus = new RedisStatusReader(parts.redis, async () => parts.keys);
  const mongoStatus = new MongoStatusReader(parts.mongo);
  const history = createHistory(parts.mongo, queue);
  const findStuck = createStuckWatch();
  const cachedStatus = cached(STATUS_TTL, async () => {
    const status = await readStatus(mongoStatus, redisStatus);
    return { status, stuck: status.partitions && findStuck(status.partitions) };
  });
  const cachedHistory = cached(HISTORY_TTL, history.read);
  return {
    read: async () => {
      const [{ status, stuck }, read] = await Promise.all([
        cachedStatus.get(),
        cachedHistory.get(),
      ]);
      return {
        ...status,
        process: parts.name,
        timeZone: parts.timeZone,
        canChange: parts.token !== '',
        stuck,
        alerts: alertsOf(status),
        history: history.complete(read, status),
      };
    },
    clear: () => {
      cachedStatus.clear();
      cachedHistory.clear();
    },
    close: () => redisStatus.close(),
  };
}

/** Caches the answer of `call` for `ms` milliseconds. */
function cached<T>(ms: number, call: () => Promise<T>) {
  let last: { readonly at: number; readonly answer: Promise<T> } | undefined;
  return {
    get: (): Promise<T> => {
      if (last && performance.now() - last.at < ms) return last.answer;
      const answer = call();
      last = { at: performance.now(), answer };
      answer.then(
        () => {
          if (last?.answer === answer) last = { at: performance.now(), answer };
        },
        () => undefined,
      );
      return answer;
    },
    clear: () => {
      last = undefined;
    },
  };
}
