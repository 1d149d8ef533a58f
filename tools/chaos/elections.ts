/** When the replica set elected a primary, asked of the set itself, and how soon pushes were confirmed again. */
import { startPollLoop } from '../../src/concurrency/poll-loop';
import type { Cluster } from '../harness/cluster';
import type { Attempt } from './history';

interface ElectionWatch {
  /** @returns when each election was won, by the clock of the history, in their order */
  stop(): Promise<readonly number[]>;
}

/** Milliseconds between two questions. */
const LOOK_EVERY = 250;

/** Elections before it began to look are none of its. */
export function watchElections({ db }: Pick<Cluster, 'db'>): ElectionWatch {
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
