/** A cache that believes what it read for a short time, and keeps no failure. */
import { createTtlCache } from '../../src/directory/ttl-cache';

function counting(maxEntries = 10) {
  let now = 1_000;
  const loads: string[] = [];
  const load = async (key: string) => {
    loads.push(key);
    if (key === 'bad') throw new Error('no database');
    return `${key}#${loads.length}`;
  };
  const cache = createTtlCache(load, { ttl: 100, maxEntries, clock: () => now });
  const pass = (ms: number) => {
    now += ms;
  };
  return { cache, loads, pass };
}

test('a value is believed for its time, and not a moment longer', async () => {
  const { cache, pass } = counting();
  expect(await cache.get('a')).toBe('a#1');
  pass(99);
  expect(await cache.get('a')).toBe('a#1');
  pass(1);
  expect(await cache.get('a')).toBe('a#2');
});

test('being asked for does not make a value live longer', async () => {
  const { cache, pass } = counting();
  await cache.get('a');
  for (let step = 0; step < 3; step += 1) {
    pass(40);
    await cache.get('a');
  }
  expect(await cache.get('a')).toBe('a#2');
});

test('who asks at the same time shares one load', async () => {
  const { cache, loads } = counting();
  expect(await Promise.all([cache.get('a'), cache.get('a'), cache.get('b')])).toEqual([
    'a#1',
    'a#1',
    'b#2',
  ]);
  expect(loads).toEqual(['a', 'b']);
});

test('a failed load is told to everybody who waits, and is not kept', async () => {
  const { cache, loads } = counting();
  const both = await Promise.allSettled([cache.get('bad'), cache.get('bad')]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(cache.get('bad')).rejects.toThrow('no database');
  expect(loads).toEqual(['bad', 'bad']);
});

test('beyond its bound the oldest go', async () => {
  const { cache, loads } = counting(2);
  for (const key of ['a', 'b', 'c', 'c', 'b']) await cache.get(key);
  expect(loads).toEqual(['a', 'b', 'c']);
  await cache.get('a');
  expect(loads).toEqual(['a', 'b', 'c', 'a']);
});

test('a value that was read again counts among the newest', async () => {
  const { cache, loads, pass } = counting(2);
  await cache.get('a');
  pass(60);
  await cache.get('b');
  pass(60);
  for (const key of ['a', 'c', 'a']) await cache.get(key);
  expect(loads).toEqual(['a', 'b', 'a', 'c']);
});
