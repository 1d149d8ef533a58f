/** Whether this process may get requests. */
import { PushError } from '../protocol/errors';
import { databaseCall, queueCall } from '../pushes/availability';

/** Milliseconds: a server that is silent for longer is as good as away. */
const PING_TIMEOUT = 2_000;
/** Milliseconds in which all who ask share one round trip: anybody may, as often as they like. */
const CACHE_TTL = 250;

const PAUSED = new Error('the queue of partition jobs is paused: run matterctl queue unpause');

export interface HealthProbe {
  /** @throws PushError SHUTTING_DOWN, DATABASE_UNAVAILABLE, DATABASE_NOT_PREPARED or QUEUE_UNAVAILABLE */
  ready(): Promise<{ status: 'ready' }>;
  /** From now on not ready, so that no new callers are sent here. What comes is still served. */
  leave(): void;
  isLeaving(): boolean;
  /** From now on nothing is begun: the process drains. */
  drain(): void;
  /** What the drivers know without asking. @throws as `ready`, except for a paused queue: queries do not need it */
  check(): void;
  /** The same for pushes, which need the queue. @throws as `ready` */
  checkPushes(): void;
}

export interface HealthSources {
  readonly isDatabaseUp: () => boolean;
  readonly isQueueUp: () => boolean;
  /** Whether the release step has prepared the database. */
  readonly isPrepared: () => boolean;
  /** Whether the queue is paused with BullMQ: no worker gets a job then. */
  readonly isQueuePaused: () => boolean;
  /** Round trips by a write; that of the queue takes no memory. */
  readonly probeDatabase: () => Promise<unknown>;
  readonly probeQueue: () => Promise<unknown>;
}

export function createHealthProbe(sources: HealthSources): HealthProbe {
  let leaving = false;
  let draining = false;
  const check = () => {
    if (draining) throw new PushError('SHUTTING_DOWN');
    if (!sources.isDatabaseUp()) throw new PushError('DATABASE_UNAVAILABLE');
    if (!sources.isPrepared()) throw new PushError('DATABASE_NOT_PREPARED');
    if (!sources.isQueueUp()) throw new PushError('QUEUE_UNAVAILABLE');
  };
  const checkPushes = () => {
    check();
    if (sources.isQueuePaused()) throw new PushError('QUEUE_UNAVAILABLE', { cause: PAUSED });
  };
  const ping = async () => {
    await Promise.all([
      databaseCall(sources.probeDatabase(), PING_TIMEOUT),
      queueCall(sources.probeQueue(), PING_TIMEOUT),
    ]);
  };
  let last: { readonly since: number; readonly outcome: Promise<void> } | undefined;
  /** A failure is shared as well: it is not tried anew for each who asks. */
  const pingThrottled = (): Promise<void> => {
    const now = performance.now();
    if (!last || now - last.since >= CACHE_TTL) last = { since: now, outcome: ping() };
    return last.outcome;
  };
  return {
    check,
    checkPushes,
    leave: () => {
      leaving = true;
    },
    isLeaving: () => leaving,
    drain: () => {
      draining = true;
    },
    ready: async () => {
      if (leaving) throw new PushError('SHUTTING_DOWN');
      checkPushes();
      await pingThrottled();
      return { status: 'ready' };
    },
  };
}
