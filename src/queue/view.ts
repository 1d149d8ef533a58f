/**
 * A look into the queue for operators: what waits, for how long, whose turn it is. It changes
 * nothing, and reads a bounded part. The queue goes on meanwhile: of one that moves fast the figures
 * are nearly right.
 */
import type { Redis } from 'ioredis';
import { LANES } from '../domain/group';
import { holderName } from './holder';
import type { RedisKeys } from './keys';
import { createLaneStates, type LaneState } from './lane-states';
import { decodeItem } from './push';
import { createRedisTime } from './redis-time';
import { createTurnReader, type TurnView } from './turn-view';
import { createWaitingTally, type WaitingClient, type WaitingGroup } from './waiting-tally';

export interface LaneView extends LaneState {
  readonly lane: number;
  /** Null where none is owed. */
  readonly turn: TurnView | null;
  /** The process that read the lane last and has not finished: its name, as in the logs. */
  readonly holder: string | null;
  /** Those before it that never finished, the latest one first. */
  readonly displaced: readonly string[];
}

export interface PushesView {
  /** Whose oldest push has waited longest comes first. */
  readonly groups: readonly WaitingGroup[];
  readonly clients: readonly WaitingClient[];
  /** Lanes of which only the first pushes were counted, there are so many. */
  readonly cutLanes: readonly number[];
}

export interface QueueView {
  /** All lanes. */
  lanes(): Promise<LaneView[]>;
  /** @param most pushes of a lane that are looked at, 10,000 where it is not given */
  pushes(most?: number): Promise<PushesView>;
  close(): Promise<void>;
}

const MOST = 10_000;
/** Pushes of one answer of Redis: one may be large. */
const CHUNK = 250;
const ALL_LANES = Array.from({ length: LANES }, (_, lane) => lane);

export function createQueueView(redis: Redis, keys: RedisKeys): QueueView {
  const time = createRedisTime(redis, () => performance.now());
  const turns = createTurnReader(redis, keys);
  const look = createLaneStates(redis, keys);
  return {
    lanes: async () => {
      const owed = await turns.read(await time.now());
      const [states, holders] = await Promise.all([
        look(),
        redis.hmget(keys.holders, ...ALL_LANES.map(String)),
      ]);
      return states.map((state, lane) => {
        const names = (holders[lane] ?? '').split(' ').filter(Boolean).map(holderName);
        const [holder = null, ...displaced] = names;
        return { lane, ...state, turn: owed.get(lane) ?? null, holder, displaced };
      });
    },
    pushes: async (most = MOST) => {
      const tally = createWaitingTally(await time.now());
      const cutLanes: number[] = [];
      for (const lane of ALL_LANES) {
        for await (const item of itemsOf(redis, keys.lane(lane), most)) {
          tally.add(lane, decodeItem(item));
        }
        if ((await redis.lindex(keys.lane(lane), most)) !== null) cutLanes.push(lane);
      }
      return { groups: tally.groups(), clients: tally.clients(), cutLanes };
    },
    close: turns.close,
  };
}

/** The first items of a list, in pieces. */
async function* itemsOf(redis: Redis, list: string, most: number): AsyncGenerator<string> {
  for (let from = 0; from < most; from += CHUNK) {
    const last = Math.min(from + CHUNK, most) - 1;
    const items = await redis.lrange(list, from, last);
    yield* items;
    if (items.length < CHUNK) return;
  }
}
