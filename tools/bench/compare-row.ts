/** One line of a comparison: the figures of a contender in a scenario. */
import { median, sum } from '../harness/figures';
import type { RoundFigures, Series } from './measure';

/** The figures of one series. Medians over its rounds, but the maximum for `max` and the sum for `failed`. */
export interface ComparisonRow {
  readonly scenario: string;
  readonly contender: string;
  readonly webs: number;
  readonly workers: number;
  /** Additional connections, which push one hot key. */
  readonly hot: number;
  /** Pushes per second. */
  readonly rate: number;
  readonly slowestRound: number;
  readonly fastestRound: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Microseconds per push of all processes except the generator. */
  readonly cpu: number;
  readonly cpuOf: Readonly<Record<string, number>>;
  /** Commands per push that the contender sent to MongoDB. */
  readonly databaseCommands: number;
  /** Commands per push that Redis processed. */
  readonly redisCommands: number;
  /** Answers other than code 0. */
  readonly failed: number;
}

/** Summarizes the rounds of a series. */
export function comparisonRowOf(series: Series): ComparisonRow {
  const { scenario, size, rounds, isOtherBuild } = series;
  const contender = isOtherBuild ? `${series.contender}, other build` : series.contender;
  const of = (figure: (round: RoundFigures) => number) => median(rounds.map(figure));
  const rates = rounds.map(({ accepted, elapsed }) => Math.round((accepted / elapsed) * 1_000));
  const cpuOf = Object.fromEntries(
    Object.keys(rounds[0]?.cpuPerPush ?? {}).map((name) => [
      name,
      of(({ cpuPerPush }) => cpuPerPush[name] ?? 0),
    ]),
  );
  const { generator: _, ...own } = cpuOf;
  return {
    ...{ scenario, contender, webs: size.webs, workers: size.workers, hot: size.hot ?? 0 },
    rate: median(rates),
    slowestRound: Math.min(...rates),
    fastestRound: Math.max(...rates),
    ...{
      p50: of(({ p50 }) => p50),
      p99: of(({ p99 }) => p99),
      max: Math.max(...rounds.map(({ max }) => max)),
    },
    cpu: sum(Object.values(own)),
    cpuOf,
    databaseCommands: of(({ commands }) => commands.database),
    redisCommands: of(({ commands }) => commands.redis),
    failed: sum(rounds.flatMap(({ others }) => Object.values(others))),
  };
}
