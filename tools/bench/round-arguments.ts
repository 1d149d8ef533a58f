/** The options of benchmarks that measure in rounds. */
import { parseArgs } from 'node:util';

export interface RoundArguments {
  readonly rounds: number;
  /** Milliseconds of one measurement. */
  readonly duration: number;
  readonly json: boolean;
}

/** @throws Error if an option is unknown or not a number */
export function readRoundArguments(args: readonly string[]): RoundArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '8' },
      json: { type: 'boolean', default: false },
    },
  });
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
  if (!(rounds >= 1) || !(seconds > 0)) throw new Error('--rounds and --seconds are numbers');
  return { rounds, duration: seconds * 1_000, json: values.json };
}
