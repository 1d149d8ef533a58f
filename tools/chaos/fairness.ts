/**
 * Two quiet clients: alone, beside one that sends as much as it may, and beside the same one when
 * it sends five times of that.
 */
import type { Cluster } from './cluster';
import { type Beside, type FairnessRound, fairnessRows } from './fairness-rows';
import { openLoop, type Send, type Spell } from './load';
import { type Latency, latencyOf, othersThan } from './load-figures';
import { createPushes } from './load-pushes';
import type { Measured, MeasureOptions } from './load-report';
import { createLoadSender, type LoadAnswer } from './load-sender';
import { SMALL, withCluster } from './with-cluster';

/** Pushes per second and client, and at once. */
const RATE_LIMIT = 60;
/** What the third client sends in one second, by the name of the round. */
const NEIGHBOURS = { alone: 0, within: 0.9 * RATE_LIMIT, noisy: 5 * RATE_LIMIT } as const;
const ORDER = Object.keys(NEIGHBOURS) as Beside[];
const QUIET = 15;
/** Rounds of each. */
const ROUNDS = 3;
const ROUND = { duration: 15_000, warmUp: 2_000 };
const HASTE = 3;
const MOST_UNDER_WAY = 2_000;
const LIMITED = '429 RATE_LIMITED';

export function measureFairness(options: MeasureOptions): Promise<Measured> {
  const env = { RATE_LIMIT: String(RATE_LIMIT), RATE_BURST: String(RATE_LIMIT) };
  return withCluster({ ...options, ...SMALL, env }, async (cluster) => {
    const rounds = await runRounds(cluster, options);
    return { rows: fairnessRows(rounds), figures: { fairness: rounds } };
  });
}

async function runRounds(cluster: Cluster, options: MeasureOptions): Promise<FairnessRound[]> {
  const { send, close } = createSends(cluster);
  // Nobody waits for the answers of a run that is given up.
  options.signal?.addEventListener('abort', close);
  try {
    const rounds: FairnessRound[] = [];
    // Interleaved: what the machine does at a moment meets both. The first one warms up.
    await runRound(send, options, 'within');
    for (const beside of Array.from({ length: ROUNDS }, () => ORDER).flat()) {
      const round = await runRound(send, options, beside);
      rounds.push(round);
      const { p50, p99 } = round.quiet;
      options.say(`Quiet clients, ${beside}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
    }
    return rounds;
  } finally {
    options.signal?.removeEventListener('abort', close);
    close();
  }
}

interface Sends {
  readonly noisy: Send;
  readonly quiet: readonly Send[];
}

function createSends({ webs: [web], clients }: Cluster): { send: Sends; close: () => void } {
  if (!web) throw new Error('the cluster has no web process');
  const next = createPushes();
  const senders = clients.map((client) => createLoadSender(web.url, client));
  const [noisy, ...quiet] = senders.map(
    (sender): Send =>
      () =>
        sender.send(next()),
  );
  if (!noisy) throw new Error('the cluster has no clients');
  const close = () => {
    for (const sender of senders) sender.close();
  };
  return { send: { noisy, quiet: quiet.slice(-2) }, close };
}

async function runRound(
  { noisy, quiet }: Sends,
  { quick, signal }: MeasureOptions,
  beside: Beside,
): Promise<FairnessRound> {
  const haste = quick ? HASTE : 1;
  const load = (send: Send, rate: number) =>
    openLoop(send, {
      rate,
      duration: ROUND.duration / haste,
      most: MOST_UNDER_WAY,
      ...(signal && { signal }),
    });
  const rate = NEIGHBOURS[beside];
  const noise = rate > 0 ? load(noisy, rate) : undefined;
  const spells = await Promise.all(quiet.map((send) => load(send, QUIET)));
  const heard = await noise;
  const counted = spells.flatMap(({ answers, from }) =>
    answers.filter(({ sentAt }) => sentAt >= from + ROUND.warmUp / haste),
  );
  return {
    beside,
    quiet: latencyOf(counted),
    quietOthers: othersThan(
      spells.flatMap(({ answers }) => answers),
      '0',
    ),
    ...(heard && { neighbour: noiseOf(heard) }),
    ownDelay: spells.reduce((most, { ownDelay }) => Math.max(most, ownDelay.p99), 0),
  };
}

function noiseOf({ answers }: Spell): NonNullable<FairnessRound['neighbour']> {
  const limited = answers.filter(({ kind }) => kind === LIMITED);
  const isComplete = ({ hasRetryAfter, hasRate }: LoadAnswer) => hasRetryAfter && hasRate;
  return {
    sent: answers.length,
    limited: latencyOf(limited) satisfies Latency,
    incomplete: limited.filter((answer) => !isComplete(answer)).length,
    others: othersThan(answers, LIMITED),
  };
}
