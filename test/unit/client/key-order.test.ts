/** Of all that may begin, the first comes first: keys, durations and arrivals at random. */
import fc from 'fast-check';
import { createKeyOrder } from '../../../tools/client/key-order';
import { createLeastFirst } from '../../../tools/client/least-first';
import { DoneLines } from '../../../tools/matterctl/push/run-state';
import { runOrdered } from '../../../tools/matterctl/run-ordered';

interface Line {
  readonly number: number;
  readonly key: string | undefined;
  /** How many turns of the event loop its work takes. */
  readonly turns: number;
  /** How many turns of the event loop pass before it arrives. */
  readonly pause: number;
}

const lines = fc
  .array(
    fc.record({
      key: fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { nil: undefined }),
      turns: fc.nat(6),
      pause: fc.constantFrom(0, 0, 0, 1, 3),
    }),
    { maxLength: 60 },
  )
  .map((list): Line[] => list.map((line, index) => ({ ...line, number: index + 1 })));

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
};

test('the heap gives out what was put in, the lowest first', () => {
  const property = fc.property(fc.array(fc.nat(50)), (numbers) => {
    const heap = createLeastFirst<{ number: number }>();
    for (const number of numbers) heap.add({ number });
    const taken = numbers.map(() => heap.take()?.number);
    expect(taken).toEqual([...numbers].sort((a, b) => a - b));
    expect(heap.take()).toBeUndefined();
  });
  fc.assert(property);
});

test('never begins a line while a lower one waits whose key is free', async () => {
  const property = fc.asyncProperty(lines, fc.integer({ min: 1, max: 5 }), async (list, places) => {
    const order = createKeyOrder(places);
    const { signal } = new AbortController();
    const waiting = new Set<Line>();
    /** Keys that a line has which began and has not ended. */
    const taken = new Set<string>();
    const isBehind = ({ number, key }: Line) =>
      key !== undefined &&
      (taken.has(key) || [...waiting].some((one) => one.key === key && one.number < number));
    const work = async (line: Line) => {
      waiting.add(line);
      const endTurn = await order.turn(line.key, signal);
      waiting.delete(line);
      const overtaken = [...waiting].filter((one) => one.number < line.number && !isBehind(one));
      expect(overtaken).toEqual([]);
      if (line.key !== undefined) taken.add(line.key);
      await turns(line.turns);
      // The order hears of the end in a turn of the event loop of its own, right after this one.
      setImmediate(() => line.key !== undefined && taken.delete(line.key));
      endTurn();
    };
    const all: Promise<void>[] = [];
    for (const line of list) {
      await turns(line.pause);
      all.push(work(line));
    }
    await Promise.all(all);
    expect(order.waiting()).toBe(0);
  });
  await fc.assert(property, { numRuns: 100 });
});

test('lines that give up are passed over, and hold nobody up', async () => {
  const order = createKeyOrder(1);
  const { signal } = new AbortController();
  const given = new AbortController();
  const endFirst = await order.turn('a', signal);
  const begun: string[] = [];
  const turn = (name: string, key: string | undefined, by: AbortSignal) =>
    order.turn(key, by).then((end) => {
      if (!by.aborted) begun.push(name);
      end();
    });
  const rest = [
    turn('ready, gives up', 'b', given.signal),
    turn('behind it', 'b', signal),
    turn('behind the first, gives up', 'a', given.signal),
    turn('no key', undefined, signal),
    turn('behind the first', 'a', signal),
  ];
  given.abort();
  endFirst();
  await Promise.all(rest);
  expect(begun).toEqual(['behind it', 'no key', 'behind the first']);
  expect(order.waiting()).toBe(0);
});

/** The most ranges of done lines at any moment, and how far the lowest undone line fell behind. */
async function spreadOf(keyOf: (number: number) => string | undefined, concurrency: number) {
  const done = new DoneLines();
  let ranges = 0;
  let behind = 0;
  async function* source() {
    for (let number = 1; number <= 3_000; number += 1) yield number;
  }
  await runOrdered(source(), {
    keyOf,
    concurrency,
    weightOf: () => 1 / 10_000,
    stop: new AbortController(),
    work: async (number) => {
      await turns(1 + (number % 3));
      done.add(number);
      behind = Math.max(behind, done.size - done.through);
      if (done.size % 50 === 0) ranges = Math.max(ranges, done.above().length);
    },
  });
  expect(done.through).toBe(3_000);
  return { ranges, behind };
}

describe('what is done stays near the order of the file, in few ranges', () => {
  test('where each matter has several lines, one behind the other all over the file', async () => {
    // Breadth first, all 750 first lines go before the first second one.
    const { ranges, behind } = await spreadOf((number) => `K${number >> 2}`, 32);
    expect(ranges).toBeLessThanOrEqual(64);
    expect(behind).toBeLessThanOrEqual(400);
  });

  test('where twenty hot keys have half of the lines', async () => {
    const hot = (number: number) => (number % 2 ? undefined : `HOT${(number * 7919) % 20}`);
    const { ranges } = await spreadOf(hot, 16);
    expect(ranges).toBeLessThanOrEqual(64);
  });
});
