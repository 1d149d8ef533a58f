/** Rounds at the peak rate of the service, and at three times that rate, in turn. */
import type { Cluster } from '../harness/cluster';
import { goodput, type Latency, latencyOf, ofKind, othersThan } from '../harness/figures';
import { closedLoop, type LoadResult, openLoop } from '../harness/load';
import type { Send } from '../harness/load-sender';
import { findLeftovers, settleLeftovers } from './leftovers';

interface Peak {
  readonly connections: number;
  readonly perSecond: number;
}

export interface OverloadRound {
  /** Measured before the overload. */
  readonly peaks: readonly Peak[];
  /** Arrivals per second. */
  readonly rate: number;
  readonly perSecond: number;
  readonly accepted: Latency;
  readonly rejected: Latency;
  readonly rejectedWithoutRetryAfter: number;
  /** Accepted, but not confirmed by the deadline. */
  readonly late: number;
  /** Other answers. */
  readonly others: Readonly<Record<string, number>>;
  readonly unsent: number;
  readonly ownDelay: LoadResult['ownDelay'];
}

export interface RoundOptions {
  readonly say: (text: string) => void;
  /** Divisor of the usual durations. */
  readonly haste: number;
  readonly signal?: AbortSignal;
}

export const OVER = 3;
/** Below MAX_IN_FLIGHT, so that the load shedder rejects. */
export const MAX_OPEN_PUSHES = 4_500;
const REFUSED = '503 BACKLOG_FULL';
const LATE = '504 CONFIRMATION_TIMEOUT';

const ROUNDS = [
  [64, 128, 256],
  [256, 128, 64],
] as const;
const PEAK = { duration: 8_000, warmUp: 2_000 };
/** The backlog fills up during the warm-up. */
const OVERLOAD = { duration: 25_000, warmUp: 8_000 };

export async function runRounds(
  cluster: Cluster,
  send: Send,
  options: RoundOptions,
): Promise<OverloadRound[]> {
  const rounds: OverloadRound[] = [];
  for (const counts of ROUNDS) {
    const peaks: Peak[] = [];
    for (const connections of counts) {
      const peak = { connections, perSecond: await measurePeak(send, connections, options) };
      options.say(`Peak with ${connections} connections: ${peak.perSecond.toFixed(0)}/s`);
      peaks.push(peak);
      await waitUntilIdle(cluster, options.signal);
    }
    const round = await overload(send, peaks, options);
    options.say(
      `${round.rate.toFixed(0)}/s arrive: ${round.perSecond.toFixed(0)}/s done, ` +
        `${round.rejected.count} rejected in ${round.rejected.p99.toFixed(1)} ms (p99)`,
    );
    rounds.push(round);
    await waitUntilIdle(cluster, options.signal);
  }
  return rounds;
}

async function measurePeak(
  send: Send,
  connections: number,
  { haste, signal }: RoundOptions,
): Promise<number> {
  const duration = PEAK.duration / haste;
  const load = await closedLoop(send, { connections, duration, signal });
  return goodput(load.answers, [load.from + PEAK.warmUp / haste, load.to]);
}

async function overload(
  send: Send,
  peaks: readonly Peak[],
  { haste, signal }: RoundOptions,
): Promise<OverloadRound> {
  const rate = OVER * Math.max(...peaks.map(({ perSecond }) => perSecond));
  const duration = OVERLOAD.duration / haste;
  const load = await openLoop(send, {
    rate,
    duration,
    maxInFlight: MAX_OPEN_PUSHES,
    signal,
  });
  const { answers, from, to, unsent, ownDelay } = load;
  const rejected = ofKind(answers, REFUSED);
  return {
    peaks,
    rate,
    perSecond: goodput(answers, [from + OVERLOAD.warmUp / haste, to]),
    accepted: latencyOf(ofKind(answers, '0')),
    rejected: latencyOf(rejected),
    rejectedWithoutRetryAfter: rejected.filter(({ hasRetryAfter }) => !hasRetryAfter).length,
    late: ofKind(answers, LATE).length,
    others: othersThan(answers, '0', REFUSED, LATE),
    unsent,
    ownDelay,
  };
}

/** @throws Error if the queue is not empty in time */
export async function waitUntilIdle(cluster: Cluster, signal?: AbortSignal): Promise<void> {
  await settleLeftovers(cluster, { entries: true, signal });
  const left = await findLeftovers(cluster);
  if (left.length > 0) throw new Error(`the queue still holds ${left.join(', ')}`);
}
