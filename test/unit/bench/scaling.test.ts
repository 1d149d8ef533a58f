/** The simulation of many workers: it ends, it can be repeated, and its goals are reached. */

import { growOneByOne } from '../../../tools/bench/scaling/changes';
import { PACE, simulate } from '../../../tools/bench/simulate-scaling';
import { createRandom } from '../../../tools/harness/random';

const { grown, jumped } = simulate('1');

test('every change ends with all partitions held, shared fairly', () => {
  expect(grown.map(({ workers }) => workers)).toEqual(Array.from({ length: 64 }, (_, n) => n + 1));
  for (const { maxHeld, settled, pause } of [...grown, ...jumped]) {
    expect(maxHeld).toBeLessThan(1.25);
    expect(settled).toBeLessThan(10_000);
    expect(pause).toBeLessThan(3_000);
  }
});

test('one that joins takes what it lacks, and little more is moved', () => {
  for (const { moves, leastMoves } of grown.slice(1)) {
    expect(moves).toBeGreaterThanOrEqual(leastMoves * 0.8);
    expect(moves).toBeLessThanOrEqual(leastMoves * 1.5 + 2);
  }
});

test('the same seed comes to the same', () => {
  const grow = () => {
    const random = createRandom('2');
    return growOneByOne({ partitions: 100, pace: PACE, random }, 8);
  };
  expect(grow()).toEqual(grow());
});
