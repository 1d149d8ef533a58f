/** When a worker is paused for the pings that it gets no answer to, and when it resumes. */
import pino from 'pino';
import type { PingState } from '../../../src/concurrency/reach';
import type { WorkerReach } from '../../../src/queue/commands/worker-reach';
import { CutOff } from '../../../workers/cut-off';

let now: number;
let log: string[];
let isPaused: boolean;
let isReachedByOther: jest.Mock<Promise<boolean>, [number, number]>;
let reports: number[];
let cutOff: CutOff;
beforeEach(() => {
  [now, log, isPaused, reports] = [100_000, [], false, []];
  isReachedByOther = jest.fn<Promise<boolean>, [number, number]>(async () => true);
  const reach: WorkerReach = {
    report: async (answeredFor) => void reports.push(answeredFor),
    isReachedByOther,
  };
  const worker = {
    isPaused: () => isPaused,
    pause: async () => {
      isPaused = true;
      log.push('paused');
    },
    resume: async () => {
      isPaused = false;
      log.push('resumed');
    },
  };
  const heartbeat = { beat: async () => void log.push(isPaused ? 'reports pause' : 'reports') };
  const logger = pino({ level: 'silent' });
  cutOff = new CutOff({ worker, reach, heartbeat, logger }, () => now);
});

const failed = (failures: number, failingFor: number): PingState => ({
  failures,
  failingSince: now - failingFor,
  answeredSince: undefined,
  lastBegan: now - 700,
  error: 'no answer',
});
const answered = (answeredFor = 0): PingState => ({
  failures: 0,
  failingSince: undefined,
  answeredSince: now - answeredFor,
  lastBegan: now - 1,
  error: '',
});

test('it is paused after two failed pings, and resumes with the first one that is answered', async () => {
  await cutOff.judge(failed(1, 700));
  await cutOff.judge(failed(2, 1_600));
  expect(log).toEqual(['paused', 'reports pause']);
  await cutOff.judge(failed(3, 2_500));
  await cutOff.judge(answered());
  expect(log.slice(2)).toEqual(['resumed', 'reports']);
});

test('it is not paused where no other worker has reached the database since the last failed ping began', async () => {
  isReachedByOther.mockResolvedValue(false);
  for (let failures = 2; failures < 20; failures += 1) {
    await cutOff.judge(failed(failures, 900 * failures));
  }
  expect(log).toEqual([]);
  expect(isReachedByOther.mock.calls.at(-1)).toEqual([700, 700]);
});

test('it is not paused for connections that fail at once, as those do that were reset', async () => {
  await cutOff.judge(failed(2, 300));
  await cutOff.judge(failed(3, 600));
  expect(log).toEqual([]);
});

test('it reports how long the database has answered, but not while it is paused', async () => {
  await cutOff.judge(answered(5_000));
  await cutOff.judge(failed(2, 1_600));
  await cutOff.judge(answered(0));
  await cutOff.judge(answered(300));
  expect(reports).toEqual([5_000, 300]);
});

/** Paused, and resumed as soon as it may be. @returns milliseconds for which the database had answered then */
async function pauseOnce(): Promise<number> {
  await cutOff.judge(failed(2, 1_600));
  for (let answeredFor = 0; ; answeredFor += 250) {
    await cutOff.judge(answered(answeredFor));
    if (!isPaused) return answeredFor;
    now += 250;
  }
}

test('where the connection comes and goes, it waits longer each time, and forgets that after a calm minute', async () => {
  const waits = [await pauseOnce(), await pauseOnce(), await pauseOnce(), await pauseOnce()];
  expect(waits).toEqual([0, 2_000, 4_000, 8_000]);
  for (let n = 0; n < 4; n += 1) await pauseOnce();
  expect(await pauseOnce()).toBe(30_000);
  now += 61_000;
  expect(await pauseOnce()).toBe(0);
});

test('but it does not wait where no other worker is at work', async () => {
  await pauseOnce();
  await cutOff.judge(failed(2, 1_600));
  await cutOff.judge(answered());
  expect(isPaused).toBe(true);
  isReachedByOther.mockResolvedValue(false);
  await cutOff.judge(answered(250));
  expect(isPaused).toBe(false);
});
