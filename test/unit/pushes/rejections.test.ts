/** Rejections of known clients are logged at a bounded rate, and never get in a caller's way. */
import pino from 'pino';
import { createLogger, type Logger } from '../../../src/infra/logger';
import { createRejectionLog } from '../../../src/pushes/rejections';
import type { PushLog } from '../../../src/storage/push-log';
import type { LogEntry } from '../../../src/storage/push-log/entry';

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
  const log = createRejectionLog({ pushLog, clock: () => clock.now, logger });
  const { record, stop } = log;
  const reject = (clientId: string, times: number) => {
    for (let count = 0; count < times; count += 1) {
      const entry = () => {
        recorded.set(clientId, (recorded.get(clientId) ?? 0) + 1);
        return {} as LogEntry;
      };
      record({ clientId, entry, body: BODY });
    }
  };
  const total = () => [...recorded.values()].reduce((sum, count) => sum + count, 0);
  return { clock, recorded, reject, total, stop };
}

test('one client fills at most 100 entries at once, however many others are rejected', () => {
  const { recorded, reject } = recorder();
  reject('noisy', 1_000);
  reject('quiet', 3);
  jest.runAllTimers();
  expect(Object.fromEntries(recorded)).toEqual({ noisy: 100, quiet: 3 });
});

test('one client fills at most 1,540 entries in 24 hours', () => {
  const { clock, recorded, reject } = recorder();
  for (let minute = 0; minute <= 1_440; minute += 1) {
    reject('noisy', 200);
    clock.now += 60_000;
  }
  jest.runAllTimers();
  expect(recorded.get('noisy')).toBe(1_540);
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

test('one more entry is free each minute', () => {
  const { clock, recorded, reject } = recorder();
  reject('c', 200);
  clock.now += 59_999;
  reject('c', 20);
  jest.runAllTimers();
  expect(recorded.get('c')).toBe(100);
  clock.now += 1;
  reject('c', 20);
  jest.runAllTimers();
  expect(recorded.get('c')).toBe(101);
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
  expect(lines[1]).toMatchObject({ suppressed: 99 });
});

test('bodies of up to 16 KiB are stored', () => {
  const kept: string[] = [];
  const logger = createLogger('test', 'silent');
  const pushLog: PushLog = {
    append: async ({ clientId }, body) => {
      if (body) kept.push(clientId);
    },
    appendAll: async () => new Map(),
    settle: async () => 0,
  };
  const { record } = createRejectionLog({ pushLog, clock: () => 0, logger });
  const reject = (clientId: string, size: number) =>
    record({ clientId, entry: () => ({ clientId }) as LogEntry, body: Buffer.alloc(size) });
  reject('large', 16 * 1024 + 1);
  reject('small', 16 * 1024);
  jest.runAllTimers();
  expect(kept).toEqual(['small']);
});
