/**
 * Reproducible random numbers: the same seed gives the same sequence on every machine, so that a run can be repeated.
 */

import { createHash } from 'node:crypto';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';
import { sum } from './figures';

export interface Random {
  /** An integer from `min` to `max`. */
  whole(min: number, max: number): number;
  /** A number from `min` to below `max`. */
  real(min: number, max: number): number;
  /** @throws RangeError if there are no items */
  pick<T>(items: readonly T[]): T;
  /** Picks an item with a probability in proportion to its weight. @throws RangeError as above */
  weighted<T>(items: readonly (readonly [item: T, weight: number])[]): T;
  /** A new list in random order. */
  shuffled<T>(items: readonly T[]): T[];
  /**
   * An independent stream that depends only on the seed and the name. So an additional draw of one caller does not
   * affect the others.
   */
  fork(name: string): Random;
}

export function createRandom(seed: string): Random {
  // A hash gives very different states for similar seeds.
  const digest = createHash('sha256').update(seed).digest();
  const generator = xoroshiro128plusFromState([0, 4, 8, 12].map((at) => digest.readInt32BE(at)));
  const whole = (min: number, max: number) => uniformInt(generator, min, max);
  const real = (min: number, max: number) => min + uniformFloat64(generator) * (max - min);
  return {
    whole,
    real,
    pick: (items) => {
      if (items.length === 0) throw new RangeError('no items to pick from');
      return items[whole(0, items.length - 1)] as (typeof items)[number];
    },
    weighted: (items) => {
      const possible = items.filter(([, weight]) => weight > 0);
      let left = real(0, sum(possible.map(([, weight]) => weight)));
      const found = possible.find(([, weight]) => {
        left -= weight;
        return left < 0;
      });
      // Because of rounding the loop may end without an item.
      const chosen = found ?? possible.at(-1);
      if (!chosen) throw new RangeError('no items to pick from');
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
