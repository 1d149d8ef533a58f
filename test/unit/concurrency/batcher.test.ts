/** Group commit: who comes together goes together, and each gets the own result. */
import { setImmediate as tick } from 'node:timers/promises';
import fc from 'fast-check';
import { type BatcherOptions, createBatcher } from '../../../src/concurrency/batcher';

/** Time enough for everything that can go on by itself. */
async function settle() {
  for (let wait = 0; wait < 5; wait += 1) await tick();
}

type Bounds = Pick<BatcherOptions<number, string>, 'maxBatch' | 'maxRunning' | 'headStart'>;

/** A batcher whose batches end when the test says so. */
function held(options: Partial<Bounds> = {}) {
  const batches: { items: readonly number[]; end: () => void; fail: (why: Error) => void }[] = [];
  const batcher = createBatcher<number, string>({
    maxBatch: options.maxBatch ?? 100,
    maxRunning: options.maxRunning ?? 1,
    headStart: options.headStart,
    run: (items) =>
      new Promise((resolve, reject) => {
        batches.push({ items, end: () => resolve(items.map((n) => `r${n}`)), fail: reject });
      }),
  });
  return { batcher, batches, sizes: () => batches.map(({ items }) => items.length) };
}

test('items of one tick share a batch, and each gets its own result', async () => {
  const { batcher, batches } = held();
  const results = Promise.all([1, 2, 3].map((n) => batcher.add(n)));
  await settle();
  expect(batches.map(({ items }) => items)).toEqual([[1, 2, 3]]);
  batches[0]?.end();
  expect(await results).toEqual(['r1', 'r2', 'r3']);
});

test('what comes while a batch is under way waits, and goes together in the next', async () => {
  const { batcher, batches, sizes } = held();
  const first = batcher.add(1);
  await settle();
  const others = [batcher.add(2)];
  await settle();
  others.push(batcher.add(3));
  await settle();
  expect(sizes()).toEqual([1]);
  batches[0]?.end();
  await first;
  await settle();
  expect(batches[1]?.items).toEqual([2, 3]);
  batches[1]?.end();
  expect(await Promise.all(others)).toEqual(['r2', 'r3']);
});

test('the next batch waits for the one under way as long as that has its head start', async () => {
  const { batcher, batches, sizes } = held({ maxRunning: 2, headStart: 60_000 });
  const first = batcher.add(1);
  await settle();
  const others = [batcher.add(2)];
  await settle();
  others.push(batcher.add(3));
  await settle();
  expect(sizes()).toEqual([1]);
  batches[0]?.end();
  await first;
  await settle();
  expect(batches[1]?.items).toEqual([2, 3]);
  batches[1]?.end();
  await Promise.all(others);
});

test('a batch that hangs beyond its head start does not hold up the next one', async () => {
  const { batcher, batches } = held({ maxRunning: 2, headStart: 5 });
  const first = batcher.add(1);
  await settle();
  const second = batcher.add(2);
  while (batches.length < 2) await tick();
  batches[1]?.end();
  expect(await second).toBe('r2');
  batches[0]?.end();
  expect(await first).toBe('r1');
});

test('neither the size of a batch nor the number under way goes over its bound', async () => {
  const { batcher, batches, sizes } = held({ maxBatch: 2, maxRunning: 2 });
  const results = Promise.all([1, 2, 3, 4, 5, 6, 7].map((n) => batcher.add(n)));
  await settle();
  expect(sizes()).toEqual([2, 2]);
  for (let next = 0; next < 4; next += 1) {
    batches[next]?.end();
    await settle();
  }
  expect(sizes()).toEqual([2, 2, 2, 1]);
  expect(await results).toEqual(['r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7']);
});

test('nor the weight of a batch over its bound; what is heavier goes alone', async () => {
  const sizes: (readonly number[])[] = [];
  const batcher = createBatcher<number, number>({
    maxBatch: 3,
    weight: { of: (item) => item, max: 10 },
    maxRunning: 1,
    run: async (items) => {
      sizes.push(items);
      return items;
    },
  });
  const items = [4, 6, 1, 25, 30, 1, 1, 1, 1];
  expect(await Promise.all(items.map((item) => batcher.add(item)))).toEqual(items);
  expect(sizes).toEqual([[4, 6], [1], [25], [30], [1, 1, 1], [1]]);
});

test('a failed batch fails its items, and the next goes on', async () => {
  const { batcher, batches } = held();
  const failed = Promise.allSettled([batcher.add(1), batcher.add(2)]);
  await settle();
  const later = batcher.add(3);
  batches[0]?.fail(new Error('no database'));
  const reason = new Error('no database');
  expect(await failed).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
  ]);
  await settle();
  batches[1]?.end();
  expect(await later).toBe('r3');
});

test.each<[string, () => Promise<string[]>]>([
  ['too few results', async () => []],
  ['too many results', async () => ['a', 'b']],
  [
    'a throw before any promise',
    () => {
      throw new Error('at once');
    },
  ],
])('nobody waits for ever, or gets the result of another: %s', async (_, run) => {
  const batcher = createBatcher<number, string>({ run, maxBatch: 10, maxRunning: 1 });
  await expect(batcher.add(1)).rejects.toThrow();
  await expect(batcher.add(2)).rejects.toThrow();
});

test('whatever the timing, everybody gets the own result, in the order of coming', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 30 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 3 }),
      async (pauses, maxBatch, maxRunning) => {
        const seen: number[] = [];
        const run = async (items: readonly number[]) => {
          seen.push(...items);
          await tick();
          return items.map((n) => `r${n}`);
        };
        const batcher = createBatcher<number, string>({ run, maxBatch, maxRunning });
        const results: Promise<string>[] = [];
        for (const [n, pause] of pauses.entries()) {
          results.push(batcher.add(n));
          if (pause) await tick();
        }
        expect(await Promise.all(results)).toEqual(pauses.map((__, n) => `r${n}`));
        expect(seen).toEqual(pauses.map((__, n) => n));
      },
    ),
  );
});
