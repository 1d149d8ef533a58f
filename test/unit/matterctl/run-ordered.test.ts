import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { runOrdered } from '../../../tools/matterctl/run-ordered';

interface Item {
  readonly index: number;
  readonly key: string | undefined;
  /** How many turns of the event loop its work takes. */
  readonly turns: number;
}

const items = fc
  .array(
    fc.record({
      key: fc.option(fc.constantFrom('a', 'b', 'c', 'd'), { nil: undefined }),
      turns: fc.nat(5),
    }),
    { maxLength: 80 },
  )
  .map((list): Item[] => list.map((item, index) => ({ ...item, index })));

async function* from<T>(list: readonly T[]) {
  yield* list;
}

const turnsOf = async ({ turns }: Item) => {
  for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
};

function ordering(work: (item: Item) => Promise<void>, concurrency: number, window: number) {
  const stop = new AbortController();
  return { keyOf: ({ key }: Item) => key, weightOf: () => 1 / window, concurrency, work, stop };
}

describe('the order of each key is kept while keys run side by side', () => {
  test('for any keys, durations, concurrency and window: all once, in order, one of a key at a time', async () => {
    const property = fc.asyncProperty(
      items,
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 20 }),
      async (list, concurrency, window) => {
        const started: Item[] = [];
        const running = new Set<Item>();
        const work = async (item: Item) => {
          const sameKey = [...running].filter(({ key }) => key !== undefined && key === item.key);
          expect(sameKey).toEqual([]);
          running.add(item);
          started.push(item);
          expect(running.size).toBeLessThanOrEqual(concurrency);
          await turnsOf(item);
          running.delete(item);
        };
        await runOrdered(from(list), ordering(work, concurrency, window));
        expect(running.size).toBe(0);
        expect(started.map(({ index }) => index).sort((a, b) => a - b)).toEqual(
          list.map(({ index }) => index),
        );
        for (const key of ['a', 'b', 'c', 'd']) {
          expect(started.filter((item) => item.key === key)).toEqual(
            list.filter((item) => item.key === key),
          );
        }
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  test('a stop at any moment: what started ends, and of each key the lines before it had started', async () => {
    const property = fc.asyncProperty(items, fc.nat(60), async (list, stopAfter) => {
      const started: Item[] = [];
      let ended = 0;
      const options = ordering(
        async (item) => {
          started.push(item);
          if (started.length > stopAfter) options.stop.abort();
          await turnsOf(item);
          ended += 1;
        },
        3,
        10,
      );
      await runOrdered(from(list), options);
      expect(ended).toBe(started.length);
      for (const key of ['a', 'b', 'c', 'd']) {
        const ofKey = started.filter((item) => item.key === key);
        expect(ofKey).toEqual(list.filter((item) => item.key === key).slice(0, ofKey.length));
      }
    });
    await fc.assert(property, { numRuns: 100 });
  });
});

describe('a run that fails', () => {
  const list = Array.from({ length: 20 }, (_, index): Item => ({ index, key: 'a', turns: 1 }));

  test('starts nothing new, and throws the first failure after the others ended', async () => {
    const seen: number[] = [];
    const work = async (item: Item) => {
      seen.push(item.index);
      await turnsOf(item);
      if (item.index === 3) throw new Error('disk full');
    };
    await expect(runOrdered(from(list), ordering(work, 4, 10))).rejects.toThrow('disk full');
    expect(seen).toEqual([0, 1, 2, 3]);
  });

  test('fails with its source', async () => {
    async function* broken(): AsyncGenerator<Item> {
      yield { index: 0, key: undefined, turns: 3 };
      throw new Error('unreadable');
    }
    await expect(runOrdered(broken(), ordering(turnsOf, 4, 10))).rejects.toThrow('unreadable');
  });
});

test('a slow key does not hold up the others, and no more than the window is read ahead', async () => {
  let read = 0;
  async function* source() {
    for (let index = 0; index < 100; index += 1) {
      read += 1;
      yield { index, key: index < 30 ? 'slow' : undefined, turns: 0 };
    }
  }
  const others: number[] = [];
  const work = async ({ index }: Item) => {
    if (index === 0) {
      await sleep(50);
      expect(others.length).toBe(0);
      expect(read).toBe(20);
    } else if (index >= 30) others.push(index);
  };
  await runOrdered(source(), ordering(work, 4, 20));
  expect(others.length).toBe(70);
});
