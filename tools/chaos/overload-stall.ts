/** A database that answers nothing for a while, under three times the load that it could bear. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster';
import { openLoop, type Send, type Spell } from './load';
import { goodput, latencyOf, othersThan } from './load-figures';
import { MOST_UNDER_WAY, type RoundOptions } from './overload-rounds';
import { type MemorySummary, startSampling } from './samples';

export interface Stall {
  /** Milliseconds. */
  readonly lasted: number;
  /** Of all answers, whatever they said. */
  readonly slowest: number;
  readonly answers: Readonly<Record<string, number>>;
  /** Milliseconds from its end to the next answer of code 0; undefined: there was none. */
  readonly backAfter: number | undefined;
  /** Answers of code 0 per second, at the end of the arrivals. */
  readonly perSecondAtLast: number;
  readonly unsent: number;
  readonly crashes: readonly string[];
  readonly memory: Readonly<Record<string, MemorySummary>>;
  readonly ownDelay: Spell['ownDelay'];
}

/** Milliseconds: before it, of it, after it, and at the end of that for the rate. */
const BEFORE = 6_000;
const LASTS = 15_000;
const AFTER = 18_000;
const AT_LAST = 6_000;

/** @param rate arrivals per second */
export async function stallDatabase(
  cluster: Cluster,
  send: Send,
  { rate, haste, signal }: RoundOptions & { readonly rate: number },
): Promise<Stall> {
  const { proxy } = cluster.mongo;
  const memory = startSampling(cluster);
  const spell = openLoop(send, {
    rate,
    duration: (BEFORE + LASTS + AFTER) / haste,
    most: MOST_UNDER_WAY,
    ...(signal && { signal }),
  });
  const over = stall(proxy, haste, signal);
  const [{ answers, to, unsent, ownDelay }, { from, until }] = await Promise.all([spell, over]);
  const good = answers.filter(({ kind, endedAt }) => kind === '0' && endedAt > until);
  const first = good.reduce((least, { endedAt }) => Math.min(least, endedAt), Infinity);
  return {
    lasted: until - from,
    slowest: latencyOf(answers).max,
    answers: othersThan(answers),
    backAfter: good.length > 0 ? first - until : undefined,
    perSecondAtLast: goodput(answers, [to - AT_LAST / haste, to]),
    unsent,
    crashes: [...cluster.crashes],
    memory: Object.fromEntries(await memory.stop()),
    ownDelay,
  };
}

async function stall(
  proxy: Cluster['mongo']['proxy'],
  haste: number,
  signal?: AbortSignal,
): Promise<{ from: number; until: number }> {
  const wait = (ms: number) => sleep(ms / haste, undefined, { ...(signal && { signal }) });
  await wait(BEFORE);
  const from = performance.now();
  proxy.setDropping(true);
  await wait(LASTS).finally(() => proxy.setDropping(false));
  return { from, until: performance.now() };
}
