/** What the operator's screen shows, as GET /status answers it: what `matterctl status` knows, and the last hour. */
import { createStuckWatch, type StuckPartition } from '../queue/stuck';
import { lookAtAll, type Status } from '../status/look';
import { MongoLook } from '../status/mongo-look';
import { RedisLook } from '../status/redis-look';
import { alertsOf, type ShownAlert } from './alerts';
import { createHistory, type History } from './history';
import type { OperatorParts } from './parts';
import type { QueueHistory } from './queue-history';
import { isFailure } from './results';

export interface OperatorStatus extends Status {
  /** The process that answers. */
  readonly process: string;
  /** In which the page shows all times. */
  readonly timeZone: string;
  /** Whether clients can be paused here. */
  readonly canChange: boolean;
  /** What stands still at this look as it did some seconds before; null where Redis cannot be asked. */
  readonly stuck: readonly StuckPartition[] | null;
  readonly alerts: readonly ShownAlert[];
  readonly history: History;
}

/** Milliseconds for which a look, and what was read of the last hour, is shown to others. */
const FRESH = 1_000;
const FRESH_HISTORY = 5_000;

export interface Screen {
  /** It does not fail, and is over within seconds. */
  read(): Promise<OperatorStatus>;
  /** Something was changed: the next read looks anew. */
  forget(): void;
  close(): Promise<void>;
}

export function createScreen(parts: OperatorParts, queue: QueueHistory): Screen {
  const redisLook = new RedisLook(parts.redis, async () => parts.keys);
  const mongoLook = new MongoLook(parts.mongo);
  const history = createHistory(parts.mongo, queue);
  const stuckOf = createStuckWatch();
  const look = shared(FRESH, async () => {
    const status = await lookAtAll(mongoLook, redisLook);
    return { status, stuck: status.partitions && stuckOf(status.partitions) };
  });
  const hour = shared(FRESH_HISTORY, history.read);
  return {
    read: async () => {
      const [{ status, stuck }, read] = await Promise.all([look.get(), hour.get()]);
      return {
        ...status,
        process: parts.name,
        timeZone: parts.timeZone,
        canChange: parts.token !== '',
        stuck,
        alerts: alertsOf(status, isFailure),
        history: history.complete(read, status),
      };
    },
    forget: () => {
      look.forget();
      hour.forget();
    },
    close: () => redisLook.close(),
  };
}

/** However many ask at a time, one looks. */
function shared<T>(ms: number, call: () => Promise<T>) {
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
    forget: () => {
      last = undefined;
    },
  };
}
