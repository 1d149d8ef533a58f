/**
 * Measures two quiet clients: alone, next to a client within its rate limit, and next to one at five times its limit.
 */

import { SMALL, withCluster } from '../harness/cluster';
import {
  type Latency,
  latencyOf,
  median,
  othersThan,
  sum,
  withoutAnswer,
} from '../harness/figures';
import { type LoadResult, openLoop } from '../harness/load';
import { type LoadAnswer, type Send, withSends } from '../harness/load-sender';
import {
  goalRow,
  type Measured,
  type MeasureOptions,
  noneRow,
  type ReportRow,
} from '../harness/report';

/** Pushes per second of a client, and the burst. */
const RATE_LIMIT = 60;
/** Pushes per second of the third client, by the name of the round. */
const NEIGHBOURS = { alone: 0, within: 0.9 * RATE_LIMIT, noisy: 5 * RATE_LIMIT } as const;
const ORDER = Object.keys(NEIGHBOURS) as RoundKind[];
const QUIET = 15;
/** Rounds of each kind. */
const ROUNDS = 3;
const ROUND = { duration: 15_000, warmUp: 2_000 };
const HASTE = 3;
const MAX_OPEN_PUSHES = 2_000;
const LIMITED = '429 RATE_LIMITED';

export function measureFairness(options: MeasureOptions): Promise<Measured> {
  const env = { RATE_LIMIT: String(RATE_LIMIT), RATE_BURST: String(RATE_LIMIT) };
  return withCluster({ ...options, ...SMALL, env }, async (cluster) => {
    const rounds = await withSends(cluster, options.signal, (sends) => runRounds(sends, options));
    return { rows: fairnessRows(rounds), figures: { fairness: rounds } };
  });
}

async function runRounds(
  sends: readonly Send[],
  options: MeasureOptions,
): Promise<FairnessRound[]> {
  const rounds: FairnessRound[] = [];
  // Interleaved, so that other load on the machine affects all kinds. The first round is a warm-up.
  await runRound(sends, options, 'within');
  for (const beside of Array.from({ length: ROUNDS }, () => ORDER).flat()) {
    const round = await runRound(sends, options, beside);
    rounds.push(round);
    const { p50, p99 } = round.quiet;
    options.say(`Quiet clients, ${beside}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  }
  return rounds;
}

async function runRound(
  [noisy, ...quiet]: readonly Send[],
  { quick, signal }: MeasureOptions,
  beside: RoundKind,
): Promise<FairnessRound> {
  const haste = quick ? HASTE : 1;
  const load = (send: Send, rate: number) =>
    openLoop(send, {
      rate,
      duration: ROUND.duration / haste,
      maxInFlight: MAX_OPEN_PUSHES,
      signal,
    });
  const rate = NEIGHBOURS[beside];
  const noisyLoad = noisy && rate > 0 ? load(noisy, rate) : undefined;
  const loads = await Promise.all(quiet.slice(-2).map((send) => load(send, QUIET)));
  const neighbour = await noisyLoad;
  const counted = loads.flatMap(({ answers, from }) =>
    answers.filter(({ sentAt }) => sentAt >= from + ROUND.warmUp / haste),
  );
  return {
    beside,
    quiet: latencyOf(counted),
    quietOthers: othersThan(
      loads.flatMap(({ answers }) => answers),
      '0',
    ),
    ...(neighbour && { neighbour: noiseOf(neighbour) }),
    ownDelay: loads.reduce((longest, { ownDelay }) => Math.max(longest, ownDelay.p99), 0),
  };
}

function noiseOf({ answers }: LoadResult): NonNullable<FairnessRound['neighbour']> {
  const limited = answers.filter(({ kind }) => kind === LIMITED);
  const isComplete = ({ hasRetryAfter, hasRate }: LoadAnswer) => hasRetryAfter && hasRate;
  return {
    sent: answers.length,
    limited: latencyOf(limited) satisfies Latency,
    incomplete: limited.filter((answer) => !isComplete(answer)).length,
    others: othersThan(answers, LIMITED),
  };
}

/** The third client of a round: none, one within its rate limit, one above it. */
export type RoundKind = 'alone' | 'within' | 'noisy';

export interface FairnessRound {
  readonly beside: RoundKind;
  /** Of both quiet clients, milliseconds. */
  readonly quiet: Latency;
  /** Their answers other than success. */
  readonly quietOthers: Readonly<Record<string, number>>;
  /** The third client; absent if the quiet clients were alone. */
  readonly neighbour?: {
    readonly sent: number;
    readonly limited: Latency;
    /** 429 without Retry-After or without the RateLimit headers. */
    readonly incomplete: number;
    /** Its other answers. */
    readonly others: Readonly<Record<string, number>>;
  };
  /** Delay of the harness itself, milliseconds, p99. */
  readonly ownDelay: number;
}

/**
 * Maximum ratio of the quiet clients' p99: next to a client above its rate limit, and next to the same client within
 * it. Admitted pushes of any client use the service.
 */
const GOAL = 1.5;

export function fairnessRows(rounds: readonly FairnessRound[]): ReportRow[] {
  return [...timeRows(rounds), ...answerRows(rounds)];
}

function timeRows(rounds: readonly FairnessRound[]): ReportRow[] {
  const [alone, within, noisy] = (['alone', 'within', 'noisy'] as const).map((beside) =>
    rounds.filter((round) => round.beside === beside),
  ) as [FairnessRound[], FairnessRound[], FairnessRound[]];
  const ratio = (of: 'p50' | 'p99', base: readonly FairnessRound[]) =>
    medianOf(noisy, of) / Math.max(medianOf(base, of), 0.1);
  const growth = ratio('p99', within);
  return [
    { what: 'quiet clients alone, p50 / p99 of each round', seen: times(alone) },
    { what: 'next to a client with 54/s of its 60/s', seen: times(within) },
    { what: 'next to a client with 300/s of its 60/s', seen: times(noisy) },
    { what: 'p50, p99 of 300/s to alone', seen: ratios(ratio, alone) },
    { what: 'p50 of 300/s to 54/s', seen: ratio('p50', within).toFixed(2) },
    goalRow('p99 of 300/s to 54/s', { value: growth, seen: growth.toFixed(2), max: GOAL }),
  ];
}

function answerRows(rounds: readonly FairnessRound[]): ReportRow[] {
  const quiet = rounds.map(({ quietOthers }) => quietOthers);
  const rejected = sum(quiet.flatMap((others) => Object.values(others)));
  const kinds = new Set(quiet.flatMap((others) => Object.keys(others)));
  const neighbours = rounds.flatMap(({ neighbour }) => neighbour ?? []);
  const noise = rounds.flatMap(({ beside, neighbour }) =>
    beside === 'noisy' && neighbour ? [neighbour] : [],
  );
  const unanswered = neighbours.flatMap(({ others }) => Object.values(withoutAnswer(others)));
  return [
    goalRow('quiet clients: answers other than 0', {
      value: rejected,
      seen: [String(rejected), ...kinds].join(' '),
      max: 0,
    }),
    // Without rejections the third client was not noisy.
    goalRow('noisy client: 429, of all its pushes', {
      value: Math.min(...noise.map(({ limited }) => limited.count)),
      seen: noise.map(({ sent, limited }) => `${limited.count} of ${sent}`).join(', '),
      min: 1,
    }),
    noneRow(
      'noisy client: 429 without Retry-After or RateLimit',
      sum(noise.map(({ incomplete }) => incomplete)),
    ),
    noneRow('third client: pushes without an answer', sum(unanswered)),
  ];
}

const ratios = (
  ratio: (of: 'p50' | 'p99', base: readonly FairnessRound[]) => number,
  base: readonly FairnessRound[],
) => `${ratio('p50', base).toFixed(2)}, ${ratio('p99', base).toFixed(2)}`;

const medianOf = (rounds: readonly FairnessRound[], of: 'p50' | 'p99') =>
  median(rounds.map(({ quiet }) => quiet[of]));

const times = (rounds: readonly FairnessRound[]) =>
  `${rounds.map(({ quiet: { p50, p99 } }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`).join(', ')} ms`;
