/**
 * When the servers themselves stand still, asked past every proxy and process: a database that writes
 * nothing for seconds holds up every caller, and the service can do nothing about it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../harness/cluster';
import type { Span } from './history';

interface ServerWatch {
  /** @returns the stalls so far, by the clock of the history */
  stop(): Promise<readonly Span[]>;
}

/** Milliseconds between two questions, and the least that an answer takes to count as a stall. */
const PAUSE = 250;
const LEAST = 1_000;

/** Asks both for a confirmed write, again and again. While one is down its question just takes that long. */
export function watchServers({
  db,
  lookup,
  keys,
}: Pick<Cluster, 'db' | 'lookup' | 'keys'>): ServerWatch {
  const stalls: Span[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  const asks = [
    () =>
      db
        .collection<{ _id: string }>('chaos_probe')
        .updateOne({ _id: 'probe' }, { $inc: { asked: 1 } }, { upsert: true }),
    () => lookup.set(`${keys.owners}:probe`, '1', 'PX', PAUSE),
  ];
  const watching = asks.map(async (ask) => {
    while (!signal.aborted) {
      const from = performance.now();
      // A server that was killed meanwhile: the plan knows, and the next question finds it back.
      await ask().catch(() => undefined);
      const to = performance.now();
      if (to - from > LEAST) stalls.push({ from, to });
      await sleep(PAUSE, undefined, { signal }).catch(() => undefined);
    }
  });
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(watching);
      return stalls;
    },
  };
}
