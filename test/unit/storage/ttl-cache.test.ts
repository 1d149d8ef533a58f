/** A cache that keeps a value for a short time, and no failure. */
import { createTtlCache } from '../../../src/storage/directory/ttl-cache';

function counting() {
  let now = 1_000;
  let loads = 0;
  let fails = false;
  const load = async () => {
    loads += 1;
    if (fails) throw new Error('no database');
    return `#${loads}`;
  };
  const cache = createTtlCache(load, { ttl: 100, clock: () => now });
  return {
    cache,
    loads: () => loads,
    pass: (ms: number) => {
      now += ms;
    },
    fail: (does: boolean) => {
      fails = does;
    },
  };
}

test('nothing is loaded before somebody asks', () => {
  expect(counting().loads()).toBe(0);
});

test('a value is cached for its time, and not a moment longer', async () => {
  const { cache, pass } = counting();
  expect(await cache.get()).toBe('#1');
  pass(99);
  expect(await cache.get()).toBe('#1');
  pass(1);
  expect(await cache.get()).toBe('#2');
});

test('being asked for does not make a value live longer', async () => {
  const { cache, pass } = counting();
  await cache.get();
  for (let step = 0; step < 3; step += 1) {
    pass(40);
    await cache.get();
  }
  expect(await cache.get()).toBe('#2');
});

test('while a value is cached nobody waits for its successor, however long that takes', async () => {
  let now = 0;
  const ends: ((value: string) => void)[] = [];
  const load = () => new Promise<string>((resolve) => ends.push(resolve));
  const cache = createTtlCache(load, { ttl: 100, clock: () => now });
  const first = cache.get();
  ends[0]?.('old');
  expect(await first).toBe('old');
  now = 60;
  expect(await cache.get()).toBe('old');
  now = 90;
  expect(await cache.get()).toBe('old');
  expect(ends).toHaveLength(2);
  ends[1]?.('new');
  now = 101;
  expect(await cache.get()).toBe('new');
});

test('who asks at the same time shares one load', async () => {
  const { cache, loads } = counting();
  expect(await Promise.all([cache.get(), cache.get(), cache.get()])).toEqual(['#1', '#1', '#1']);
  expect(loads()).toBe(1);
});

test('what is asked for anew was not read before, also where loads take long', async () => {
  const { cache, loads, pass } = counting();
  expect(await cache.get()).toBe('#1');
  pass(1);
  expect(await cache.getFresh()).toBe('#2');
  // Who asks in the same moment shares it; who asks at leisure gets it too.
  expect(await Promise.all([cache.getFresh(), cache.getFresh(), cache.get()])).toHaveLength(3);
  pass(1);
  expect(await cache.get()).toBe(`#${loads()}`);
});

test('who asks anew all the time has a fifth of the time spent on loading, after a burst of five', async () => {
  const TAKES = 300;
  let now = 0;
  const begun: { end: () => void; at: number }[] = [];
  const load = () =>
    new Promise<void>((end) => {
      begun.push({ end, at: now });
    });
  const cache = createTtlCache(load, { ttl: 1_000, clock: () => now });
  for (; now < 60_000; now += 10) {
    void cache.getFresh();
    for (const { end, at } of begun) if (now >= at + TAKES) end();
    await Promise.resolve();
  }
  // The first loads had not ended yet: their pauses were the shortest.
  const burst = begun.filter(({ at }) => at < 2 * TAKES);
  expect(burst.length).toBeGreaterThanOrEqual(5);
  expect(burst.length).toBeLessThan(5 + (2 * TAKES) / 100);
  expect((begun.length - burst.length) * TAKES).toBeLessThanOrEqual(60_000 / 5);
});

test('a failed load is told to everybody who waits, and is not kept', async () => {
  const { cache, loads, fail } = counting();
  fail(true);
  const both = await Promise.allSettled([cache.get(), cache.get()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fail(false);
  expect(await cache.get()).toBe('#2');
  expect(loads()).toBe(2);
});

test('a load that is stuck holds up nobody who asks after its time, and does not undo theirs', async () => {
  let now = 0;
  const ends: ((failed: boolean) => void)[] = [];
  const load = () =>
    new Promise<number>((resolve, reject) => {
      const mine = ends.length;
      ends.push((failed) => (failed ? reject(new Error('late')) : resolve(mine)));
    });
  const cache = createTtlCache(load, { ttl: 100, clock: () => now });
  const stuck = cache.get();
  now = 100;
  const later = cache.get();
  ends[1]?.(false);
  expect(await later).toBe(1);
  ends[0]?.(true);
  await expect(stuck).rejects.toThrow('late');
  expect(await cache.get()).toBe(1);
});

test('a load that was held up for long does not make its value live for ten times as long', async () => {
  let now = 0;
  const ends: (() => void)[] = [];
  const load = () => new Promise<number>((resolve) => ends.push(() => resolve(ends.length)));
  const cache = createTtlCache(load, { ttl: 1_000, clock: () => now });
  const first = cache.get();
  now = 9_000;
  ends[0]?.();
  expect(await first).toBe(1);
  // It was begun at 0: a new one is due.
  const second = cache.get();
  ends[1]?.();
  expect(await second).toBe(2);
});
