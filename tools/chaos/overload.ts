/** `npm run chaos -- --overload`: three times the load that the service can process, a stall, and a noisy neighbour. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, SMALL, withCluster } from '../harness/cluster';
import { goodput, latencyOf, othersThan } from '../harness/figures';
import { closedLoop, openLoop } from '../harness/load';
import { type Send, withSends } from '../harness/load-sender';
import { startSampling } from '../harness/memory';
import type { Measured, MeasureOptions } from '../harness/report';
import { measureFairness } from './fairness';
import { MAX_OPEN_PUSHES, type RoundOptions, runRounds, waitUntilIdle } from './overload-rounds';
import { type NarrowLine, type OverloadFigures, overloadRows, type Stall } from './overload-rows';

const HASTE = 3;

export async function measureOverload(options: MeasureOptions): Promise<Measured> {
  const overload = await withCluster({ ...options, ...SMALL }, (cluster) =>
    withSends(cluster, options.signal, (sends) => measure(cluster, inTurns(sends), options)),
  );
  const fairness = await measureFairness(options);
  return {
    rows: [...overloadRows(overload), ...fairness.rows],
    figures: { ...overload, ...fairness.figures },
  };
}

/** Sends as each client of the cluster in turn. */
function inTurns(sends: readonly Send[]): Send {
  let sent = 0;
  return () => {
    const send = sends[sent % sends.length];
    if (!send) throw new Error('the cluster has no clients');
    sent += 1;
    return send();
  };
}

async function measure(
  cluster: Cluster,
  send: Send,
  { say, quick, signal }: MeasureOptions,
): Promise<OverloadFigures> {
  const roundOptions = { say, haste: quick ? HASTE : 1, signal };
  const line = await narrowLine(cluster, send, roundOptions);
  await waitUntilIdle(cluster, signal);
  const rounds = await runRounds(cluster, send, roundOptions);
  say('The database stalls now');
  const rate = rounds.at(-1)?.rate ?? 0;
  const stall = await stallDatabase(cluster, send, { ...roundOptions, rate });
  return { pushTimeout: cluster.config.PUSH_TIMEOUT, line, rounds, stall };
}

const CONNECTIONS = 64;
const LINE_DURATION = 6_000;
const LINE_WARM_UP = 1_500;
/** Share of the unthrottled rate. */
const WANTED = 1 / 4;
const CLOSE_ENOUGH = [0.21, 0.3] as const;
const MAX_TRIES = 4;
/** Bytes per push in both directions: only the initial estimate. */
const GUESS = 6_000;

/**
 * Makes the connection to the database the bottleneck: reduces its rate until the service has about a quarter of its
 * rate. If the processors were the bottleneck, the load would reduce the rate that it measures.
 */
async function narrowLine(
  { mongo }: Cluster,
  send: Send,
  options: RoundOptions,
): Promise<NarrowLine> {
  const { say, haste, signal } = options;
  const measure = async () => {
    const duration = LINE_DURATION / haste;
    const { answers, from, to } = await closedLoop(send, {
      connections: CONNECTIONS,
      duration,
      signal,
    });
    return goodput(answers, [from + LINE_WARM_UP / haste, to]);
  };
  // Warms up caches, connections and compilers.
  await measure();
  const unthrottled = await measure();
  if (unthrottled === 0) throw new Error('the service accepted no push');
  let bytesPerSecond = unthrottled * WANTED * GUESS;
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    mongo.proxy.throttle(bytesPerSecond);
    const throttled = await measure();
    const share = throttled / unthrottled;
    say(`${(bytesPerSecond / 1e6).toFixed(2)} MB/s to the database: ${throttled.toFixed(0)}/s`);
    const [min, max] = CLOSE_ENOUGH;
    const fits = share >= min && share <= max;
    if (fits || tries === MAX_TRIES) return { unthrottled, throttled, bytesPerSecond };
    bytesPerSecond *= Math.min(3, Math.max(0.3, WANTED / Math.max(share, 0.01)));
  }
}

/** Milliseconds before, during and after the stall, and for the rate at the end. */
const BEFORE = 6_000;
const LASTS = 15_000;
const AFTER = 18_000;
const AT_LAST = 6_000;

/**
 * Stalls the database under three times the load that the service can process.
 *
 * @param rate arrivals per second
 */
async function stallDatabase(
  cluster: Cluster,
  send: Send,
  { rate, haste, signal }: RoundOptions & { readonly rate: number },
): Promise<Stall> {
  const { proxy } = cluster.mongo;
  const memory = startSampling(cluster);
  const load = openLoop(send, {
    rate,
    duration: (BEFORE + LASTS + AFTER) / haste,
    maxInFlight: MAX_OPEN_PUSHES,
    signal,
  });
  const over = stall(proxy, haste, signal);
  const [{ answers, to, unsent, ownDelay }, { from, until }] = await Promise.all([load, over]);
  const good = answers.filter(({ kind, endedAt }) => kind === '0' && endedAt > until);
  const first = good.reduce((earliest, { endedAt }) => Math.min(earliest, endedAt), Infinity);
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
  const wait = (ms: number) => sleep(ms / haste, undefined, { signal });
  await wait(BEFORE);
  const from = performance.now();
  proxy.setDropping(true);
  await wait(LASTS).finally(() => proxy.setDropping(false));
  return { from, until: performance.now() };
}
