/**
 * What a run watches beside its callers: how late the harness itself is, when the servers stand still,
 * and when the replica set elects a primary. All times are of the clock of the history.
 */

import { startPollLoop } from '../../src/concurrency/poll-loop';
import type { Cluster } from '../harness/cluster';
import { pause } from '../harness/stopping';
import type { Attempt, History, Span } from './history';

interface Watch<T> {
  /** @returns what was seen so far; it may be called again */
  stop(): T;
}

/** All of them at once. */
export function watchRun(
  cluster: Pick<Cluster, 'db' | 'lookup' | 'keys'>,
): Watch<Promise<Pick<History, 'stalls' | 'serverStalls' | 'elections'>>> {
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

/** Milliseconds between two looks, and the least that counts as a stall. */
const LOOK = 50;
const LEAST_OWN = 100;

/**
 * Watches the event loop of this process: a timer that comes late was held up by something, and what
 * the harness sees of the service's times holds only while it runs.
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

/** Milliseconds between two questions, and the least that an answer takes to count as a stall. */
const PAUSE = 250;
const LEAST_SERVER = 1_000;

/**
 * Asks both servers for a confirmed write, past every proxy and process, again and again. While one is
 * down its question just takes that long. A database that writes nothing for seconds holds up every
 * caller, and the service can do nothing about it.
 */
function watchServers({
  db,
  lookup,
  keys,
}: Pick<Cluster, 'db' | 'lookup' | 'keys'>): Watch<Promise<readonly Span[]>> {
  const stalls: Span[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  const asks = [
    () =>
      db
        .collection<{ _id: string }>('chaos_probe')
        .updateOne({ _id: 'probe' }, { $inc: { asked: 1 } }, { upsert: true }),
    () => lookup.set(`${keys.owners(0)}:probe`, '1', 'PX', PAUSE),
  ];
  const watching = asks.map(async (ask) => {
    while (!signal.aborted) {
      const from = performance.now();
      // A server that was killed meanwhile: the plan knows, and the next question finds it back.
      await ask().catch(() => undefined);
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

/** Milliseconds between two questions. */
const LOOK_EVERY = 250;

/** Asked of the set itself; elections before it began to look are none of its. */
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
      // The members are on this machine and have its clock.
      const at = lastElectionDate.getTime() - performance.timeOrigin;
      if (at > from) seen.set(Number(electionTerm), at);
    },
    LOOK_EVERY,
    // While there is no primary nobody answers.
    () => undefined,
  );
  return {
    stop: async () => {
      await look.stop();
      return [...seen.values()].sort((a, b) => a - b);
    },
  };
}

/** @returns of each election, milliseconds until the first push was confirmed; Infinity: none was */
export function confirmedAfter(
  elections: readonly number[],
  attempts: readonly Pick<Attempt, 'endedAt' | 'end'>[],
): number[] {
  const confirmed = attempts.flatMap(({ endedAt, end }) =>
    end.kind === 'answered' && end.code === 0 && !end.replayed ? [endedAt] : [],
  );
  confirmed.sort((a, b) => a - b);
  return elections.map((at) => {
    const first = confirmed.find((time) => time > at);
    return first === undefined ? Infinity : first - at;
  });
}
