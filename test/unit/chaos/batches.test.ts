/** The batches that a chaos run sends: how many, how large, and with which keys. */
import {
  batchText,
  type ChaosBatch,
  createWork,
  drawAgain,
  isBatchWork,
} from '../../../tools/chaos/batches';
import { createOperations } from '../../../tools/chaos/operations';
import { createRandom } from '../../../tools/harness/random';

const world = { usernames: ['li'], hotKeys: 3, coldKeys: 1_000 };
const draw = (count: number, share = 0.5) => {
  const random = createRandom('batches');
  const next = createOperations(random.fork('operations'), 7, world);
  const work = createWork({ random, caller: 7, next, share });
  return Array.from({ length: count }, work);
};
const batchesIn = (work: ReturnType<typeof draw>): ChaosBatch[] => work.filter(isBatchWork);

test('half of the pushes go in batches of 1 to 50 lines; none, or all, where that is wanted', () => {
  const work = draw(20_000);
  const sizes = batchesIn(work).map(({ lines }) => lines.length);
  const lines = sizes.reduce((all, size) => all + size, 0);
  const share = lines / (lines + work.length - sizes.length);
  expect(share).toBeGreaterThan(0.45);
  expect(share).toBeLessThan(0.55);
  expect([Math.min(...sizes), Math.max(...sizes)]).toEqual([1, 50]);
  expect(draw(500, 0).filter(isBatchWork)).toEqual([]);
  expect(draw(500, 1).every(isBatchWork)).toBe(true);
});

test('the same seed draws the same', () => {
  expect(draw(200)).toEqual(draw(200));
});

test('several lines of a batch are about one matter', () => {
  const repeated = batchesIn(draw(2_000)).filter(({ lines }) => {
    const ids = lines.map(({ body }) => JSON.parse(body).externalId).filter(Boolean);
    return lines.length > 5 && new Set(ids).size < ids.length;
  });
  expect(repeated.length).toBeGreaterThan(30);
});

test('a key stands in its line, unless it follows from that of the batch', () => {
  const [work] = batchesIn(draw(2_000)).filter(({ key, lines }) => key && lines.length > 20);
  if (!work) throw new Error('no such batch');
  const texts = batchText(work).trimEnd().split('\n');
  expect(texts).toHaveLength(work.lines.length);
  work.lines.forEach(({ name, body, idempotencyKey }, index) => {
    const { op, body: sent, key } = JSON.parse(texts[index] ?? '');
    expect([op, JSON.stringify(sent)]).toEqual([name, body]);
    expect(key ?? `${work.key}/${index + 1}`).toBe(idempotencyKey);
  });
  const array = JSON.parse(batchText(work, true));
  expect(array).toEqual(texts.map((text) => JSON.parse(text)));
  // Moved, each says the key that it had.
  const rest = { key: undefined, lines: work.lines.slice(3) };
  const keys = batchText(rest)
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text).key);
  expect(keys).toEqual(rest.lines.map(({ idempotencyKey }) => idempotencyKey));
});

test('only a batch whose lines all have keys is sent again as a whole', () => {
  const random = createRandom('again');
  const ways = (batch: ChaosBatch) =>
    [...new Set(Array.from({ length: 200 }, () => drawAgain(random, batch)))].sort();
  const line = { number: 1, name: 'delete', body: '{}', idempotencyKey: 'k' } as const;
  expect(ways({ key: undefined, lines: [line] })).toEqual(['rest', 'singly', 'whole']);
  const unkeyed = { ...line, idempotencyKey: undefined };
  expect(ways({ key: undefined, lines: [line, unkeyed] })).toEqual(['rest', 'singly']);
});
