/** Compares this build with the build of `--against`: ratios between rounds that ran one after the other. */
import { median, sum } from '../harness/figures';
import type { Size } from './contenders';
import type { RoundFigures, Series } from './measure';

export interface BuildRatio {
  readonly scenario: string;
  readonly contender: string;
  readonly size: Size;
  readonly figure: string;
  /** Median over the rounds: the figure of this build divided by that of the other build. */
  readonly ratio: number;
  readonly lowest: number;
  readonly highest: number;
}

/** Returns no ratios if only one build was measured. */
export function buildRatiosOf(measured: readonly Series[]): BuildRatio[] {
  return measured
    .filter(({ isOtherBuild }) => !isOtherBuild)
    .flatMap((ours) => {
      const other = measured.find((series) => series.isOtherBuild && isSame(series, ours));
      return other ? ratiosOf(ours, other) : [];
    });
}

const isSame = (one: Series, other: Series) =>
  one.scenario === other.scenario && one.contender === other.contender && one.size === other.size;

function ratiosOf({ scenario, contender, size, rounds }: Series, other: Series): BuildRatio[] {
  return Object.entries(FIGURES).map(([figure, of]) => {
    // Each round is compared with the same round of the other build, which ran just before or after it: the speed of
    // the machine changes during the run.
    const ratios = rounds.flatMap((round, n) => {
      const same = other.rounds[n];
      return same && of(same) > 0 ? [of(round) / of(same)] : [];
    });
    const range = { lowest: Math.min(...ratios), highest: Math.max(...ratios) };
    return { scenario, contender, size, figure, ratio: median(ratios), ...range };
  });
}

const FIGURES: Readonly<Record<string, (round: RoundFigures) => number>> = {
  'CPU per push': ({ cpuPerPush: { generator: _, ...own } }) => sum(Object.values(own)),
  p50: ({ p50 }) => p50,
  p99: ({ p99 }) => p99,
  'pushes/s': ({ accepted, elapsed }) => accepted / elapsed,
};
