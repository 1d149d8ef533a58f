/** What a noisy client costs the others, against its goal. Pure. */
import { type Latency, median } from './load-figures';
import { goalRow, type Row } from './load-report';

export interface FairnessRound {
  /** Of the quiet clients together, milliseconds. */
  readonly quiet: Latency;
  /** Their answers that are no success. */
  readonly quietOthers: Readonly<Record<string, number>>;
  /** Absent where the quiet ones were alone. */
  readonly noisy?: {
    readonly sent: number;
    readonly limited: Latency;
    /** 429 without Retry-After or without the headers of the rate. */
    readonly incomplete: number;
    /** All its other answers. */
    readonly others: Readonly<Record<string, number>>;
  };
  /** The harness' own lateness, milliseconds, p99. */
  readonly ownDelay: number;
}

/** The quiet ones' p99 beside the noisy one, of the same alone. */
const GOAL = 1.5;

export function fairnessRows(rounds: readonly FairnessRound[]): Row[] {
  const alone = rounds.filter(({ noisy }) => !noisy);
  const beside = rounds.filter(({ noisy }) => noisy);
  const noise = beside.flatMap(({ noisy }) => noisy ?? []);
  const ratio = (of: 'p50' | 'p99') => medianOf(beside, of) / Math.max(medianOf(alone, of), 0.1);
  const growth = ratio('p99');
  const incomplete = sum(noise.map((one) => one.incomplete));
  const refused = sum(rounds.flatMap(({ quietOthers }) => Object.values(quietOthers)));
  const kinds = rounds.flatMap(({ quietOthers }) => Object.keys(quietOthers));
  return [
    { what: 'quiet clients alone, p50 / p99 per round', seen: times(alone) },
    { what: 'quiet clients beside a noisy one', seen: times(beside) },
    { what: 'growth of their p50 (medians)', seen: ratio('p50').toFixed(2) },
    goalRow('growth of their p99 (medians)', {
      value: growth,
      seen: growth.toFixed(2),
      most: GOAL,
    }),
    goalRow('quiet clients: answers other than 0', {
      value: refused,
      seen: [String(refused), ...new Set(kinds)].join(' '),
      most: 0,
    }),
    // Were nothing of it refused, it would not have been noisy.
    goalRow('noisy client: its 429, of what it sent', {
      value: Math.min(...noise.map(({ limited }) => limited.count)),
      seen: noise.map(({ sent, limited }) => `${limited.count} of ${sent}`).join(', '),
      least: 1,
    }),
    goalRow('noisy client: 429 without Retry-After or RateLimit', {
      value: incomplete,
      seen: String(incomplete),
      most: 0,
    }),
  ];
}

const medianOf = (rounds: readonly FairnessRound[], of: 'p50' | 'p99') =>
  median(rounds.map(({ quiet }) => quiet[of]));

const times = (rounds: readonly FairnessRound[]) =>
  `${rounds.map(({ quiet: { p50, p99 } }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`).join(', ')} ms`;

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
