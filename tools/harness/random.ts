/**
 * Randomness that can be repeated: the same seed gives the same sequence on every machine, so a
 * run that found something can be run again.
 */

import { createHash } from 'node:crypto';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';
import { sum } from './figures';

export interface Random {
  /** A whole number; both ends are included. */
  whole(min: number, max: number): number;
  /** A number from `min` to below `max`. */
  real(min: number, max: number): number;
  /** @throws RangeError where there is nothing to pick from */
  pick<T>(items: readonly T[]): T;
  /** Picks an item as often as its weight says; one of weight 0 never. @throws RangeError as above */
  weighted<T>(items: readonly (readonly [item: T, weight: number])[]): T;
  /** A new list in random order. */
  shuffled<T>(items: readonly T[]): T[];
  /**
   * A stream of its own. It depends on the seed and the name alone, not on what was drawn here
   * before: one more draw of one caller changes nothing for the others.
   */
  fork(name: string): Random;
}

export function createRandom(seed: string): Random {
  // A hash spreads seeds that differ in one digit over all states.
  const digest = createHash('sha256').update(seed).digest();
  const generator = xoroshiro128plusFromState([0, 4, 8, 12].map((at) => digest.readInt32BE(at)));
  const whole = (min: number, max: number) => uniformInt(generator, min, max);
  const real = (min: number, max: number) => min + uniformFloat64(generator) * (max - min);
  return {
    whole,
    real,
    pick: (items) => {
      if (items.length === 0) throw new RangeError('there is nothing to pick from');
      return items[whole(0, items.length - 1)] as (typeof items)[number];
    },
    weighted: (items) => {
      const possible = items.filter(([, weight]) => weight > 0);
      let left = real(0, sum(possible.map(([, weight]) => weight)));
      const found = possible.find(([, weight]) => {
        left -= weight;
        return left < 0;
      });
      // Rounding can leave a last crumb.
      const chosen = found ?? possible.at(-1);
      if (!chosen) throw new RangeError('there is nothing to pick from');
      return chosen[0];
    },
    shuffled: (items) => {
      const left = [...items];
      return items.map(
        () => left.splice(whole(0, left.length - 1), 1)[0] as (typeof items)[number],
      );
    },
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}
