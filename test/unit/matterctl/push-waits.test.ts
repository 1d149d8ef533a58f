/** What a push run says while it waits, and who may try meanwhile. */

import { ALL_REASONS, PushError } from '../../../src/protocol/errors';
import { Standstill } from '../../../tools/matterctl/push/standstill';
import {
  causeOf,
  createWaitReporter,
  duration,
  isOfTheService,
} from '../../../tools/matterctl/push/waits';
import { sink } from '../../support/sink';

const HERE = { url: 'http://portal', clientId: 'oa' };
const rejection = (code: number, reason: string, message = 'no', rate?: number) => ({
  ...{ code, reason, message, retryable: true, requestId: null, errors: [], retryAfter: undefined },
  rate,
});

describe('a cause is one sentence', () => {
  test.each([
    [503, 'DATABASE_UNAVAILABLE', "the service's database (MongoDB) does not answer"],
    [503, 'QUEUE_UNAVAILABLE', "the service's queue (Redis) does not answer"],
    [503, 'QUEUE_MEMORY_FULL', "the service's queue (Redis) is at its maxmemory"],
    [503, 'BACKLOG_FULL', 'a push would wait for more than half of PUSH_TIMEOUT'],
    [503, 'PARTITION_FULL', 'PARTITION_LIMIT pushes wait in a partition'],
    [503, 'PARTITION_BYTES_FULL', 'PARTITION_BYTES of pushes wait in a partition'],
    [503, 'TOO_MANY_IN_FLIGHT', 'the service is at MAX_IN_FLIGHT'],
    [503, 'IN_FLIGHT_BYTES_FULL', 'bodies of requests under way (256 MiB)'],
    [503, 'CLIENT_PAUSED', 'matterctl queue resume oa ends it'],
    [503, 'SHUTTING_DOWN', 'the service is being stopped'],
    [503, 'BOUND_OF_A_NEWER_VERSION', 'the service answers 503 BOUND_OF_A_NEWER_VERSION (no)'],
    [504, 'CONFIRMATION_TIMEOUT', 'does not confirm within PUSH_TIMEOUT'],
    [429, 'RATE_LIMITED', 'matterctl client limit oa --rate <pushes a second>'],
    [502, 'HTTP_502', 'something before the service answers 502'],
    [0, 'ECONNREFUSED', 'the service at http://portal cannot be reached (no)'],
  ])('%i %s', (code, reason, sentence) => {
    expect(isOfTheService({ code, reason })).toBe(true);
    expect(causeOf(rejection(code, reason), HERE)).toContain(sentence);
  });

  test('what the service says of an overload or an outage is never the line’s fault', () => {
    for (const reason of ALL_REASONS) {
      const { code } = new PushError(reason);
      expect([reason, isOfTheService({ code, reason })]).toEqual([
        reason,
        [429, 503, 504].includes(code),
      ]);
    }
  });

  test.each(['ECONNRESET', 'EPIPE', 'NO_ANSWER_IN_TIME'])('%s may be', (reason) => {
    expect(isOfTheService({ code: 0, reason })).toBe(false);
  });

  test('a message of elsewhere cannot draw on the terminal', () => {
    const cause = causeOf(rejection(503, 'CLIENT_PAUSED', 'why\u001b[2J\n'), HERE);
    expect(cause).toContain('(why [2J )');
  });
});

describe('it tells at most one line every ten seconds', () => {
  test('whatever the causes are, and a rate every ten minutes', () => {
    const stderr = sink();
    let now = 0;
    const reporter = createWaitReporter({ stderr: stderr.stream }, () => now);
    for (; now < 1_800_000; now += 500) {
      if (now < 60_000) reporter.standing(`cause ${now % 3_000}`, now, 400);
      reporter.slowed('the rate');
    }
    const lines = stderr.text().trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('Waiting'))).toHaveLength(6);
    expect(lines.filter((line) => line.startsWith('Slowed'))).toHaveLength(3);
    expect(lines[0]).toBe('Waiting: cause 0. Trying again in 1 s.');
    expect(lines[1]).toBe('Waiting (for 10 s): cause 1000. Trying again in 1 s.');
  });

  test.each([
    [10, '1 s'],
    [119_000, '119 s'],
    [125_000, '2 min'],
    [7_500_000, '2 h 5 min'],
  ])('%i ms are %s', (milliseconds, words) => {
    expect(duration(milliseconds)).toBe(words);
  });
});

describe('a standstill', () => {
  const turn = () => new Promise(setImmediate);

  test('lets the lowest line try alone, and all others follow the first that moves', async () => {
    const standstill = new Standstill(new AbortController().signal);
    expect(standstill.rejected(5, 0).tries).toBe(1);
    // It was under way together with the first: nothing new.
    expect(standstill.rejected(6, 0).wait).toBeUndefined();
    const through: number[] = [];
    const pass = (line: number) => standstill.pass(line).then(() => through.push(line));
    const all = [7, 5, 6].map(pass);
    while (through.length === 0) await turn();
    await turn();
    expect(through).toEqual([5]);
    expect(standstill.isStanding()).toBe(true);
    standstill.moved();
    await Promise.all(all);
    expect(through).toEqual([5, 6, 7]);
    expect(standstill.isStanding()).toBe(false);
  });

  test('lets the next one try that comes, where none waits', async () => {
    const standstill = new Standstill(new AbortController().signal);
    standstill.rejected(1, 0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await standstill.pass(3);
    expect(standstill.rejected(3, 0).tries).toBe(2);
  });

  test('holds nobody up once the run is stopped', async () => {
    const stop = new AbortController();
    const standstill = new Standstill(stop.signal);
    standstill.rejected(1, 300_000);
    const waiting = standstill.pass(2);
    stop.abort();
    await waiting;
    await standstill.pass(3);
  });
});
