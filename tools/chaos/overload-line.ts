/**
 * Makes the line to the database what bounds the service. Were it the processors, the load itself
 * would take away what it measures.
 */
import type { Cluster } from './cluster';
import { closedLoop, type Send } from './load';
import { goodput } from './load-figures';

export interface NarrowLine {
  /** Pushes per second in a closed loop without and with the narrow line. */
  readonly unthrottled: number;
  readonly throttled: number;
  readonly bytesPerSecond: number;
}

interface NarrowOptions {
  readonly say: (text: string) => void;
  /** Divides the usual times. */
  readonly haste: number;
  readonly signal?: AbortSignal;
}

const CONNECTIONS = 64;
const DURATION = 6_000;
const WARM_UP = 1_500;
/** Of the unthrottled rate. */
const WANTED = 1 / 4;
const CLOSE_ENOUGH = [0.21, 0.3] as const;
const MOST_TRIES = 4;
/** Bytes on the line per push, both ways: only the first guess. */
const GUESS = 6_000;

/** Narrows the line until about a quarter of the service's rate is left. */
export async function narrowLine(
  { mongo }: Cluster,
  send: Send,
  options: NarrowOptions,
): Promise<NarrowLine> {
  const { say, haste, signal } = options;
  const measure = async () => {
    const duration = DURATION / haste;
    const { answers, from, to } = await closedLoop(send, {
      connections: CONNECTIONS,
      duration,
      ...(signal && { signal }),
    });
    return goodput(answers, [from + WARM_UP / haste, to]);
  };
  // Not counted: caches, connections and compilers.
  await measure();
  const unthrottled = await measure();
  if (unthrottled === 0) throw new Error('the service took no push at all');
  let bytesPerSecond = unthrottled * WANTED * GUESS;
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    mongo.proxy.throttle(bytesPerSecond);
    const throttled = await measure();
    const share = throttled / unthrottled;
    say(`${(bytesPerSecond / 1e6).toFixed(2)} MB/s to the database: ${throttled.toFixed(0)}/s`);
    const [least, most] = CLOSE_ENOUGH;
    const fits = share >= least && share <= most;
    if (fits || tries === MOST_TRIES) return { unthrottled, throttled, bytesPerSecond };
    bytesPerSecond *= Math.min(3, Math.max(0.3, WANTED / Math.max(share, 0.01)));
  }
}
