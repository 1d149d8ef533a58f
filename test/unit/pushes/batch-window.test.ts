/** Batches beside single pushes of other clients: few lines are under way at a time, first come, first served. */
import { BatchWindow, type Part } from '../../../src/pushes/batch-window';

const LONG = 10_000;
/** Lines that go on at a time beside one push of another client; twice as many may be under way. */
const PART = 16;

let now: number;
let window: BatchWindow;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  now = 1_000;
  window = new BatchWindow(() => now);
});
afterEach(() => {
  jest.useRealTimers();
});
/** Lines of a batch of its own. */
const take = (clientId: string, lines: number, timeout: number) =>
  window.enter(clientId, lines).take(timeout);
const singles = (clientId: string, count: number) =>
  Array.from({ length: count }, () => window.enter(clientId).leave);
/** What may go on by now. */
async function taken(part: Promise<Part>): Promise<Part | undefined> {
  return Promise.race([
    part,
    new Promise<undefined>((resolve) => setImmediate(resolve, undefined)),
  ]);
}
async function linesOf(part: Promise<Part>): Promise<number | undefined> {
  return (await taken(part))?.lines;
}

test('the batches of a client that is alone, or has single pushes too, go on whole', async () => {
  singles('oa', 3);
  expect(await linesOf(take('oa', 1_000, LONG))).toBe(1_000);
  expect(await linesOf(take('oa', 1_000, LONG))).toBe(1_000);
});

test('beside a push of another client they go on in parts, and the rest waits', async () => {
  singles('hr', 1);
  const first = take('oa', 200, LONG);
  const second = take('oa', 168, LONG);
  const third = take('oa', 136, LONG);
  expect(await linesOf(first)).toBe(PART);
  expect(await linesOf(second)).toBe(PART);
  expect(await linesOf(third)).toBeUndefined();
  (await first).release();
  expect(await linesOf(third)).toBe(PART);
});

test('what came first goes on first, and each client has room of its own', async () => {
  singles('hr', 1);
  singles('oa', 1);
  const next = (clientId: string) => take(clientId, 100, LONG);
  const [oa, later] = [[next('oa'), next('oa'), next('oa')], next('oa')];
  const hr = [next('hr'), next('hr'), next('hr')];
  expect(await Promise.all(oa.map(linesOf))).toEqual([PART, PART, undefined]);
  expect(await Promise.all(hr.map(linesOf))).toEqual([PART, PART, undefined]);
  (await oa[0])?.release();
  expect(await linesOf(oa[2] as Promise<Part>)).toBe(PART);
  expect(await linesOf(later)).toBeUndefined();
  expect(await linesOf(hr[2] as Promise<Part>)).toBeUndefined();
});

test('a part that takes long counts for half a second, and not twice when it ends', async () => {
  singles('hr', 1);
  const stuck = [take('oa', 100, LONG), take('oa', 100, LONG)];
  await Promise.all(stuck.map(linesOf));
  const next = [1, 2, 3].map(() => take('oa', 100, LONG));
  jest.advanceTimersByTime(499);
  expect(await Promise.all(next.map(linesOf))).toEqual([undefined, undefined, undefined]);
  jest.advanceTimersByTime(1);
  expect(await Promise.all(next.map(linesOf))).toEqual([PART, PART, undefined]);
  for (const one of stuck) (await one).release();
  expect(await linesOf(next[2] as Promise<Part>)).toBeUndefined();
});

test('as many lines as single pushes of all others are in flight', async () => {
  const leave = singles('hr', 200);
  singles('crm', 100);
  singles('oa', 500);
  const parts = [1, 2, 3].map(() => take('oa', 1_000, LONG));
  expect(await Promise.all(parts.slice(0, 2).map(linesOf))).toEqual([150, 150]);
  expect(await linesOf(parts[2] as Promise<Part>)).toBeUndefined();
  for (const one of leave) one();
  for (const part of parts.slice(0, 2)) (await part).release();
  expect(await linesOf(parts[2] as Promise<Part>)).toBe(50);
});

test('an odd number of lines too is two parts, and a part takes what is free', async () => {
  const leave = singles('hr', 301);
  expect(await linesOf(take('oa', 1_000, LONG))).toBe(150);
  leave[0]?.();
  leave[1]?.();
  expect(await linesOf(take('oa', 1_000, LONG))).toBe(149);
  expect(await linesOf(take('oa', 1_000, LONG))).toBeUndefined();
});

test('lines that did not go on yet are told, also while an earlier part of theirs is recorded', async () => {
  const alone = window.enter('oa', 500);
  expect(window.linesWaiting).toBe(500);
  (await alone.take(LONG)).release();
  expect(window.linesWaiting).toBe(0);
  alone.leave();
  singles('hr', 1);
  const [first, second] = [window.enter('oa', 100), window.enter('hr', 50)];
  await first.take(LONG);
  expect(window.linesWaiting).toBe(100 - PART + 50);
  const late = second.take(0);
  jest.advanceTimersByTime(0);
  await late;
  first.leave();
  second.leave();
  expect(window.linesWaiting).toBe(0);
});

test('a client whose last push was answered over ten seconds ago pushes no more', async () => {
  const [leave] = singles('hr', 1);
  leave?.();
  now += 10_000;
  expect(await linesOf(take('oa', 200, LONG))).toBe(PART);
  now += 1;
  expect(await linesOf(take('oa', 200, LONG))).toBe(200);
});

test('what was under way before the others came is waited for', async () => {
  const whole = take('oa', 1_000, LONG);
  expect(await linesOf(whole)).toBe(1_000);
  singles('hr', 1);
  const next = take('oa', 10, LONG);
  expect(await linesOf(next)).toBeUndefined();
  (await whole).release();
  expect(await linesOf(next)).toBe(10);
});

test('small batches go on while there is room for all of their lines', async () => {
  singles('hr', 1);
  expect(await linesOf(take('oa', 40, LONG))).toBe(PART);
  expect(await linesOf(take('oa', 4, LONG))).toBe(4);
  expect(await linesOf(take('oa', 12, LONG))).toBe(12);
  expect(await linesOf(take('oa', 1, LONG))).toBeUndefined();
});

test('who waited for its time goes on, with all of its lines', async () => {
  singles('hr', 1);
  await Promise.all([take('oa', 24, LONG), take('oa', 24, LONG)]);
  const parts = [take('oa', 300, 200), take('oa', 200, -200)];
  expect(await Promise.all(parts.map(linesOf))).toEqual([undefined, undefined]);
  jest.advanceTimersByTime(0);
  expect(await Promise.all(parts.map(linesOf))).toEqual([undefined, 200]);
  jest.advanceTimersByTime(200);
  expect(await Promise.all(parts.map(linesOf))).toEqual([300, 200]);
});

test('whose time is over before it begins goes on whole, though there is room for a part', async () => {
  singles('hr', 1);
  const late = take('oa', 200, -1);
  jest.advanceTimersByTime(0);
  expect(await linesOf(late)).toBe(200);
});

test('a part is given back once', async () => {
  singles('hr', 1);
  const [first] = await Promise.all([take('oa', 100, LONG), take('oa', 100, LONG)]);
  first.release();
  first.release();
  expect(await linesOf(take('oa', 100, LONG))).toBe(PART);
  expect(await linesOf(take('oa', 100, LONG))).toBeUndefined();
});
