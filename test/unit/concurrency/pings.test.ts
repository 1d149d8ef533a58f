/** Pings: how many failed in a row, and what does not count as a failure. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type PingState, type Pings, startPings } from '../../../src/concurrency/reach';
import { until } from '../../support/wait';

let pings: Pings | undefined;
afterEach(() => pings?.stop());

const never = () => new Promise<void>(() => undefined);

function ping(how: () => Promise<unknown>, timeout = 20): PingState[] {
  const seen: PingState[] = [];
  pings = startPings({
    ping: how,
    timeout,
    interval: 1,
    onPing: (state) => void seen.push(state),
    onError: () => undefined,
  });
  return seen;
}

test('pings that fail, and those that get no answer, are counted until one is answered', async () => {
  const answers = [
    () => Promise.resolve(),
    () => Promise.reject(new Error('refused')),
    never,
    () => Promise.resolve(),
  ];
  const seen = ping(() => (answers.shift() ?? never)());
  await until('four pings', async () => seen.length >= 4);
  expect(seen.slice(0, 4).map(({ failures }) => failures)).toEqual([0, 1, 2, 0]);
  const [first, second, third, fourth] = seen;
  expect(first).toMatchObject({ failingSince: undefined, answeredSince: expect.any(Number) });
  expect(second).toMatchObject({ error: 'Error: refused', answeredSince: undefined });
  expect(third?.failingSince).toBe(second?.failingSince);
  expect(fourth?.answeredSince).toBeGreaterThan(third?.lastBegan ?? Infinity);
});

test('a ping without an answer does not count where something else was answered meanwhile', async () => {
  const seen = ping(async () => {
    await sleep(1);
    pings?.noteAnswer();
    await never();
  });
  await until('two pings', async () => seen.length >= 2);
  expect(seen.map(({ failures }) => failures)).not.toContain(1);
});

test('after a late answer the failures are counted anew', async () => {
  let answer: () => void = () => undefined;
  const late = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const calls = [() => late, never];
  const seen = ping(() => (calls.shift() ?? never)());
  await until('the first failure', async () => seen.length >= 1);
  expect(seen[0]).toMatchObject({ failures: 1 });
  answer();
  await late;
  const before = seen.length;
  await until('another ping', async () => seen.length > before);
  // 0 if the answer came while that ping waited for its own.
  expect(seen[before]?.failures).toBeLessThanOrEqual(1);
});

test('the time in which the process itself stood still is not that of the ping', async () => {
  const seen = ping(async () => {
    const began = performance.now();
    // It blocks for longer than the deadline, and the answer is read after it.
    await sleep(0);
    while (performance.now() < began + 400);
    await sleep(0);
  }, 200);
  await until('two pings', async () => seen.length >= 2);
  expect(seen.slice(0, 2).map(({ failures }) => failures)).toEqual([0, 0]);
});

test('an error of what is done after a ping is reported, and the pings go on', async () => {
  const errors: unknown[] = [];
  pings = startPings({
    ping: async () => undefined,
    timeout: 20,
    interval: 1,
    onPing: () => Promise.reject(new Error('Redis is away')),
    onError: (error) => errors.push(error),
  });
  await until('two errors', async () => errors.length >= 2);
});
