/** Two ways to put a load on the service: as fast as it answers, or at fixed times whatever it does. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadAnswer, Send } from './load-sender';

/** What was seen of one spell of load. Times as in the answers. */
export interface Spell {
  readonly from: number;
  /** The end of the arrivals; the last answers came later. */
  readonly to: number;
  readonly answers: readonly LoadAnswer[];
  /** Arrivals that were not sent, since too many were under way already. */
  readonly unsent: number;
  /** How late the harness itself was at its own work, milliseconds: part of every latency. */
  readonly ownDelay: { readonly p99: number; readonly max: number };
}

/** Each connection sends its next push when the last one is answered. `duration` in milliseconds. */
export function closedLoop(
  send: Send,
  { connections, duration, signal }: SpellOptions & { readonly connections: number },
): Promise<Spell> {
  return observe(async (keep) => {
    const end = performance.now() + duration;
    const connection = async () => {
      while (performance.now() < end && !signal?.aborted) keep(await send());
    };
    await Promise.all(Array.from({ length: connections }, connection));
    return { to: end, unsent: 0 };
  });
}

interface SpellOptions {
  /** Milliseconds. */
  readonly duration: number;
  readonly signal?: AbortSignal;
}

interface OpenLoopOptions extends SpellOptions {
  /** Arrivals per second. */
  readonly rate: number;
  /** Pushes under way, each on its own connection, beyond which an arrival is not sent. */
  readonly most: number;
}

/**
 * Arrivals at fixed times, whatever comes back. Resolves when all of them are answered. A latency
 * begins when its push was due, not when the harness got round to it.
 */
export function openLoop(
  send: Send,
  { rate, duration, most, signal }: OpenLoopOptions,
): Promise<Spell> {
  return observe(async (keep) => {
    const from = performance.now();
    const underWay = new Set<Promise<void>>();
    let arrived = 0;
    let unsent = 0;
    /** Of the next arrival, milliseconds after the first one. */
    const due = () => (arrived * 1_000) / rate;
    const arrive = () => {
      const sentAt = from + due();
      arrived += 1;
      if (underWay.size >= most) {
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
      // However late the harness is, none is left out.
      while (due() <= passed && due() < duration) arrive();
      await sleep(1);
    }
    const to = performance.now();
    await Promise.all(underWay);
    return { to, unsent };
  });
}

/** Milliseconds between two looks at how late the harness is. */
const LOOK = 1;

async function observe(
  work: (keep: (answer: LoadAnswer) => void) => Promise<Pick<Spell, 'to' | 'unsent'>>,
): Promise<Spell> {
  const answers: LoadAnswer[] = [];
  const own = monitorEventLoopDelay({ resolution: LOOK });
  own.enable();
  const from = performance.now();
  try {
    const { to, unsent } = await work((answer) => answers.push(answer));
    // It counts the wait for its own timer too, and in nanoseconds.
    const late = (ns: number) => Math.max(0, ns / 1e6 - LOOK);
    const ownDelay = { p99: late(own.percentile(99)), max: late(own.max) };
    return { from, to, answers, unsent, ownDelay };
  } finally {
    own.disable();
  }
}
