/**
 * Watches delays of the harness itself, stalls of the servers, and elections of the replica set during a run. All
 * times are of the clock of the history.
 */

import { startPollLoop } from '../../src/concurrency/timing';
import type { Cluster } from '../harness/cluster';
import { pause } from '../harness/stopping';
import { type ChaosHistory, isAccepted, type PushAttempt, type Span } from './history';

interface Watch<T> {
  /** @returns the observations so far; it may be called again */
  stop(): T;
}

/** Starts all watches. */
export function watchRun(
  cluster: Pick<Cluster, 'db' | 'lookup' | 'keys'>,
): Watch<Promise<Pick<ChaosHistory, 'stalls' | 'serverStalls' | 'elections'>>> {
  const own = watchStalls();
  const servers = watchServers(cluster);
  const votes = watchElections(cluster);
  return {
    stop: async () => {
      const stalls = own.stop();
      const [serverStalls, elections] = await Promise.all([servers.stop(), votes.stop()]);
      return { stalls, serverStalls, elections };
    },
  };
}

/** Milliseconds between two checks, and the shortest delay that counts as a stall. */
const LOOK = 50;
const LEAST_OWN = 100;

/**
 * Watches the event loop of this process with a timer. While the event loop stalls, the harness measures wrong times.
 */
export function watchStalls(): Watch<readonly Span[]> {
  const stalls: Span[] = [];
  let due = performance.now() + LOOK;
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - due > LEAST_OWN) stalls.push({ from: due, to: now });
    due = now + LOOK;
  }, LOOK);
  return {
    stop: () => {
      clearInterval(timer);
      return stalls;
    },
  };
}

/** Milliseconds between two writes, and the shortest duration of one that counts as a stall. */
const PAUSE = 250;
const LEAST_SERVER = 1_000;

/**
 * Repeats a confirmed write to each server, without proxies. While a server is down, the write waits. The service is
 * not responsible for delays while the database itself stalls.
 */
function watchServers({
  db,
  lookup,
  keys,
}: Pick<Cluster, 'db' | 'lookup' | 'keys'>): Watch<Promise<readonly Span[]>> {
  const stalls: Span[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  const probes = [
    () =>
      db
        .collection<{ _id: string }>('chaos_probe')
        .updateOne({ _id: 'probe' }, { $inc: { asked: 1 } }, { upsert: true }),
    () => lookup.set(`${keys.owners(0)}:probe`, '1', 'PX', PAUSE),
  ];
  const watching = probes.map(async (probe) => {
    while (!signal.aborted) {
      const from = performance.now();
      // The server was killed by a fault. The next write finds it again.
      await probe().catch(() => undefined);
      const to = performance.now();
      if (to - from > LEAST_SERVER) stalls.push({ from, to });
      await pause(PAUSE, signal);
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

/** Milliseconds between two queries. */
const LOOK_EVERY = 250;

/** Reads the elections from the replica set. Elections before the start of the watch do not count. */
export function watchElections({ db }: Pick<Cluster, 'db'>): Watch<Promise<readonly number[]>> {
  /** By term. */
  const seen = new Map<number, number>();
  const from = performance.now();
  const look = startPollLoop(
    async () => {
      const admin = db.getClient().db('admin');
      const status = await admin.command({ replSetGetStatus: 1 });
      const { lastElectionDate, electionTerm } = status.electionCandidateMetrics ?? {};
      if (!(lastElectionDate instanceof Date)) return;
      // The members run on this machine and use its clock.
      const at = lastElectionDate.getTime() - performance.timeOrigin;
      if (at > from) seen.set(Number(electionTerm), at);
    },
    LOOK_EVERY,
    // Without a primary the command fails.
    () => undefined,
  );
  return {
    stop: async () => {
      await look.stop();
      return [...seen.values()].sort((a, b) => a - b);
    },
  };
}

/** @returns for each election the milliseconds until the first confirmed push; Infinity if no push was confirmed */
export function confirmedAfter(
  elections: readonly number[],
  attempts: readonly Pick<PushAttempt, 'endedAt' | 'end'>[],
): number[] {
  const confirmed = attempts.flatMap(({ endedAt, end }) =>
    isAccepted(end) && !end.replayed ? [endedAt] : [],
  );
  confirmed.sort((a, b) => a - b);
  return elections.map((at) => {
    const first = confirmed.find((time) => time > at);
    return first === undefined ? Infinity : first - at;
  });
}
