/** Batches of lines that end, or come back: keys, sizes and fates at random. */
import fc from 'fast-check';
import { Dispatcher, type DispatchLimits } from '../../../tools/client/dispatcher';
import type { Line } from '../../../tools/client/line-order';

interface Sent extends Line {
  /** For how many tries it comes back before it ends. */
  readonly returns: number;
}

const lines = fc
  .array(
    fc.record({
      key: fc.option(fc.constantFrom('a', 'b', 'c', 'd'), { nil: undefined }),
      size: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined, freq: 5 }),
      company: fc.constantFrom(1, 3, 100, 100, 100),
      once: fc.option(fc.constantFrom('x', 'y'), { nil: undefined, freq: 3 }),
      returns: fc.constantFrom(0, 0, 0, 1, 2),
    }),
    { maxLength: 60 },
  )
  .map((list): Sent[] => list.map((line, index) => ({ ...line, number: index + 1 })));
const limits = fc.record({
  requests: fc.integer({ min: 1, max: 4 }),
  batches: fc.integer({ min: 1, max: 4 }),
  lines: fc.integer({ min: 1, max: 8 }),
  bytes: fc.integer({ min: 3, max: 20 }),
});

const turn = () => new Promise(setImmediate);

/** Sends all of them, and checks each batch when it goes. @returns the lines in the order in which they ended */
async function sendAll(list: readonly Sent[], bounds: DispatchLimits): Promise<Sent[]> {
  const ended: Sent[] = [];
  const tries = new Map<Sent, number>();
  const underWay = new Set<string>();
  const open = new Set(list);
  const keysOf = (batch: readonly Sent[]) => new Set(batch.map(({ key }) => key));
  const check = (batch: readonly Sent[]) => {
    const numbers = batch.map(({ number }) => number);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(batch.length).toBeLessThanOrEqual(
      Math.min(bounds.lines, ...batch.map(({ company }) => company)),
    );
    if (batch.some(({ size }) => size === undefined)) expect(batch).toHaveLength(1);
    const bytes = batch.reduce((sum, { size = 0 }) => sum + size, 0);
    if (batch.length > 1) expect(bytes).toBeLessThanOrEqual(bounds.bytes);
    const once = batch.flatMap((line) => line.once ?? []);
    expect(new Set(once).size).toBe(once.length);
    for (const key of keysOf(batch)) {
      if (key === undefined) continue;
      expect(underWay.has(key)).toBe(false);
      // Of a key nothing is left behind that comes before what goes.
      const first = [...open].find((line) => line.key === key);
      const ofKey = batch.filter((line) => line.key === key);
      expect(ofKey).toEqual([...open].filter((line) => line.key === key).slice(0, ofKey.length));
      expect(first).toBe(ofKey[0]);
    }
  };
  const begin = async (batch: readonly Sent[]) => {
    check(batch);
    for (const key of keysOf(batch)) if (key !== undefined) underWay.add(key);
    await turn();
    const back: Sent[] = [];
    for (const line of batch) {
      const count = tries.get(line) ?? 0;
      tries.set(line, count + 1);
      // As the service does: what comes behind one of its key that failed is not applied.
      const isBehind = line.key !== undefined && back.some(({ key }) => key === line.key);
      if (count < line.returns || isBehind) back.push(line);
      else ended.push(line);
    }
    for (const key of keysOf(batch)) if (key !== undefined) underWay.delete(key);
    const over = batch.filter((line) => !back.includes(line));
    for (const line of over) open.delete(line);
    dispatcher.end(over);
    dispatcher.again(back);
  };
  const dispatcher = new Dispatcher<Sent>(() => bounds, begin);
  dispatcher.add(list);
  for (let turns = 0; ended.length < list.length && turns < 2_000; turns += 1) await turn();
  expect(dispatcher.waiting).toBe(0);
  return ended;
}

test('each line ends once, those of a key in their order, whatever comes back', async () => {
  const property = fc.asyncProperty(lines, limits, async (list, bounds) => {
    const ended = await sendAll(list, bounds);
    expect([...ended].sort((a, b) => a.number - b.number)).toEqual(list);
    for (const key of ['a', 'b', 'c', 'd']) {
      expect(ended.filter((line) => line.key === key)).toEqual(
        list.filter((line) => line.key === key),
      );
    }
  });
  await fc.assert(property, { numRuns: 100 });
});

test('a batch is filled with the lowest lines, though they are of one key', () => {
  const sent: number[][] = [];
  const bounds = { requests: 1, batches: 1, lines: 4, bytes: 1_000 };
  const dispatcher = new Dispatcher<Line>(
    () => bounds,
    (batch) => {
      sent.push(batch.map(({ number }) => number));
      return new Promise(() => {});
    },
  );
  const line = (number: number, key: string) => ({ number, key, size: 1, company: 100 });
  dispatcher.add([line(1, 'a'), line(2, 'a'), line(3, 'b'), line(4, 'a'), line(5, 'a')]);
  expect(sent).toEqual([[1, 2, 3, 4]]);
  expect(dispatcher.waiting).toBe(1);
});
