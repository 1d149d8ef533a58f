/** Two kinds of load: a closed loop, which follows the answers, and an open loop, with arrivals at fixed times. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadAnswer, Send } from './load-sender';

/** The measurements of one load. Times as in the answers. */
export interface LoadResult {
  readonly from: number;
  /** The end of the arrivals; the last answers arrive later. */
  readonly to: number;
  readonly answers: readonly LoadAnswer[];
  /** Arrivals that were not sent, because too many pushes were in flight. */
  readonly unsent: number;
  /** Delay of the harness itself, milliseconds: part of every latency. */
  readonly ownDelay: { readonly p99: number; readonly max: number };
}

/** Each connection sends its next push when the last one is answered. */
export function closedLoop(
  send: Send,
  { connections, duration, signal }: LoadOptions & { readonly connections: number },
): Promise<LoadResult> {
  return observe(async (keep) => {
    const end = performance.now() + duration;
    const connection = async () => {
      while (performance.now() < end && !signal?.aborted) keep(await send());
    };
    await Promise.all(Array.from({ length: connections }, connection));
    return { to: end, unsent: 0 };
  });
}

interface LoadOptions {
  /** Milliseconds. */
  readonly duration: number;
  readonly signal?: AbortSignal;
}

interface OpenLoopOptions extends LoadOptions {
  /** Arrivals per second. */
  readonly rate: number;
  /** Maximum pushes in flight, each on its own connection. Above it an arrival is not sent. */
  readonly maxInFlight: number;
}

/**
 * Sends pushes at fixed times, independent of the answers. Resolves when all are answered. A latency starts when the
 * push was due, even if the harness sent it later.
 */
export function openLoop(
  send: Send,
  { rate, duration, maxInFlight, signal }: OpenLoopOptions,
): Promise<LoadResult> {
  return observe(async (keep) => {
    const from = performance.now();
    const underWay = new Set<Promise<void>>();
    let arrived = 0;
    let unsent = 0;
    /** Milliseconds from the start to the next arrival. */
    const due = () => (arrived * 1_000) / rate;
    const arrive = () => {
      const sentAt = from + due();
      arrived += 1;
      if (underWay.size >= maxInFlight) {
        unsent += 1;
        return;
      }
      const push = send().then((answer) => {
        keep({ ...answer, sentAt });
        underWay.delete(push);
      });
      underWay.add(push);
    };
    for (let passed = 0; passed < duration; ) {
      signal?.throwIfAborted();
      passed = performance.now() - from;
      // A late harness still sends every arrival.
      while (due() <= passed && due() < duration) arrive();
      await sleep(1);
    }
    const to = performance.now();
    await Promise.all(underWay);
    return { to, unsent };
  });
}

/** Milliseconds between two measurements of the delay of the harness. */
const LOOK = 1;

async function observe(
  work: (keep: (answer: LoadAnswer) => void) => Promise<Pick<LoadResult, 'to' | 'unsent'>>,
): Promise<LoadResult> {
  const answers: LoadAnswer[] = [];
  const own = monitorEventLoopDelay({ resolution: LOOK });
  own.enable();
  const from = performance.now();
  try {
    const { to, unsent } = await work((answer) => answers.push(answer));
    // The histogram is in nanoseconds and includes the wait for its own timer.
    const late = (ns: number) => Math.max(0, ns / 1e6 - LOOK);
    const ownDelay = { p99: late(own.percentile(99)), max: late(own.max) };
    return { from, to, answers, unsent, ownDelay };
  } finally {
    own.disable();
  }
}
