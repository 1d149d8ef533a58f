/** Rejections of known clients are logged at a bounded rate, and never get in a caller's way. */
import pino from 'pino';
import { createRejectionLog, REJECTIONS } from '../../../src/pushes/rejection-log';
import { createLogger, type Logger } from '../../../src/runtime/logger';
import type { LogEntry } from '../../../src/storage/push-log/entry-model';
import type { PushLog } from '../../../src/storage/push-log/log';

const BODY = Buffer.from('{}');

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

function recorder(
  append: PushLog['append'] = async () => {},
  logger: Logger = createLogger('test', 'silent'),
) {
  const clock = { now: 1_000_000 };
  const recorded = new Map<string, number>();
  const pushLog: PushLog = { append, appendAll: async () => new Map(), settle: async () => 0 };
  const log = createRejectionLog({ pushLog, clock: () => clock.now, logger }, REJECTIONS);
  const { record, stop } = log;
  const reject = (clientId: string, times: number) => {
    for (let count = 0; count < times; count += 1) {
      record(
        clientId,
        () => {
          recorded.set(clientId, (recorded.get(clientId) ?? 0) + 1);
          return {} as LogEntry;
        },
        BODY,
      );
    }
  };
  const total = () => [...recorded.values()].reduce((sum, count) => sum + count, 0);
  return { clock, recorded, reject, total, stop };
}

test('one client fills at most 10 entries a second, whoever else is rejected', () => {
  const { recorded, reject } = recorder();
  reject('noisy', 1_000);
  reject('quiet', 3);
  jest.runAllTimers();
  expect(Object.fromEntries(recorded)).toEqual({ noisy: 10, quiet: 3 });
});

test('all clients together fill at most 100 a second', () => {
  const { reject, total } = recorder();
  for (let client = 0; client < 50; client += 1) reject(`c${client}`, 5);
  jest.runAllTimers();
  expect(total()).toBe(100);
});

test('nothing is recorded before the answer is on its way, all of it within a second', () => {
  const { reject, total } = recorder();
  reject('c', 10);
  expect(total()).toBe(0);
  jest.advanceTimersByTime(1_000);
  expect(total()).toBe(10);
});

test('at a stop all of it is recorded at once, and waited for', async () => {
  let finish = () => {};
  const written = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { reject, total, stop } = recorder(() => written);
  reject('c', 10);
  let isStopped = false;
  const stopped = stop().then(() => {
    isStopped = true;
  });
  expect(total()).toBe(10);
  await Promise.resolve();
  expect(isStopped).toBe(false);
  finish();
  await stopped;
  jest.runAllTimers();
  expect(total()).toBe(10);
});

test('the next second starts afresh', () => {
  const { clock, recorded, reject } = recorder();
  reject('c', 20);
  clock.now += 999;
  reject('c', 20);
  jest.runAllTimers();
  expect(recorded.get('c')).toBe(10);
  clock.now += 1;
  reject('c', 20);
  jest.runAllTimers();
  expect(recorded.get('c')).toBe(20);
});

test('a log that cannot be written is nobody’s failure', async () => {
  const { reject, total } = recorder(async () => {
    throw new Error('no database');
  });
  expect(() => reject('c', 2)).not.toThrow();
  await jest.runAllTimersAsync();
  expect(total()).toBe(2);
});

test('however many clients cause them, two lines tell of those that cannot be recorded', async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) });
  const { reject } = recorder(async () => {
    throw new Error('no room in Redis');
  }, logger);
  for (let client = 0; client < 50; client += 1) reject(`c${client}`, 2);
  await jest.runAllTimersAsync();
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatchObject({
    msg: 'rejection not recorded',
    error: 'Error: no room in Redis',
  });
  expect(lines[1]).toMatchObject({ untold: 99 });
});

test('of the rejections of five minutes 15 of a client bring their bodies, unless they are large', () => {
  const kept = new Map<string, number>();
  const clock = { now: 0 };
  const logger = createLogger('test', 'silent');
  const pushLog: PushLog = {
    append: async ({ clientId }, body) => {
      if (body) kept.set(clientId, (kept.get(clientId) ?? 0) + 1);
    },
    appendAll: async () => new Map(),
    settle: async () => 0,
  };
  const { record } = createRejectionLog({ pushLog, clock: () => clock.now, logger }, REJECTIONS);
  const reject = (clientId: string, size = 2) => {
    clock.now += 1_000;
    record(clientId, () => ({ clientId }) as LogEntry, Buffer.alloc(size));
    jest.runAllTimers();
  };
  reject('large', 16 * 1024 + 1);
  for (let n = 0; n < 20; n += 1) reject('noisy');
  for (let n = 0; n < 20; n += 1) reject('other');
  reject('late');
  expect(Object.fromEntries(kept)).toEqual({ noisy: 15, other: 15 });
  clock.now += 300_000;
  reject('late');
  reject('large', 16 * 1024);
  expect(Object.fromEntries(kept)).toEqual({ noisy: 15, other: 15, late: 1, large: 1 });
});
