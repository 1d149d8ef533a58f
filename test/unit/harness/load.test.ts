/** The load's figures: what counts as done, what as rejected. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  goodput,
  latencyOf,
  median,
  othersThan,
  withoutAnswer,
} from '../../../tools/harness/figures';
import { closedLoop, openLoop } from '../../../tools/harness/load';
import type { LoadAnswer } from '../../../tools/harness/load-sender';
import { until } from '../../support/wait';

const anAnswer = (kind: string, sentAt: number, ms: number): LoadAnswer => ({
  sentAt,
  endedAt: sentAt + ms,
  kind,
  hasRetryAfter: true,
  hasRate: true,
});

describe('figures', () => {
  const answers = [
    anAnswer('0', 0, 100),
    anAnswer('0', 900, 200),
    anAnswer('0', 1_000, 400),
    anAnswer('503 BACKLOG_FULL', 1_200, 2),
    anAnswer('0', 1_900, 200),
  ];

  test('goodput is what was done within the span, whenever it was sent', () => {
    // From 1,100 to 2,100 two pushes were done; the third one is where the span ends.
    expect(goodput(answers, [1_000, 2_000])).toBe(2);
    expect(goodput(answers, [5_000, 6_000])).toBe(0);
    expect(goodput([], [0, 1_000])).toBe(0);
  });

  test.each([0, 100, 250, 400, 555, 700, 899])(
    'bursts count as they come, also where the span begins %i ms after one',
    (offset) => {
      const bursts = Array.from({ length: 20 }, (_, n) => n * 900);
      const done = bursts.flatMap((at) => Array.from({ length: 90 }, () => anAnswer('0', 0, at)));
      expect(goodput(done, [900 + offset, 9_450 + offset])).toBeCloseTo(100);
    },
  );

  test('where all answers end before the span does, the rest of it counts as well', () => {
    const done = [0, 100, 200, 300].map((at) => anAnswer('0', at, 0));
    expect(goodput(done, [0, 10_000])).toBeLessThan(0.5);
  });

  test('a latency is from the sending to the last byte', () => {
    expect(latencyOf(answers)).toMatchObject({ count: 5, p50: 200, max: 400 });
    expect(latencyOf([])).toEqual({ count: 0, p50: 0, p99: 0, max: 0 });
  });

  test('every kind that is not expected is counted', () => {
    expect(othersThan(answers, '0')).toEqual({ '503 BACKLOG_FULL': 1 });
  });

  test.each([
    [[], 0],
    [[3], 3],
    [[5, 1, 3], 3],
    [[4, 1, 2, 3], 2.5],
  ])('the median of %j is %d', (numbers, middle) => {
    expect(median(numbers)).toBe(middle);
  });
});

describe('load', () => {
  /** Answers as long as its test lets it wait. */
  const whenTold = () => {
    let answerAll = () => {};
    const told = new Promise<void>((resolve) => {
      answerAll = resolve;
    });
    let sent = 0;
    const send = async () => {
      const sentAt = performance.now();
      sent += 1;
      await told;
      return anAnswer('0', sentAt, 300);
    };
    return { send, answerAll, sent: () => sent };
  };

  test('in an open loop pushes arrive at their times, whatever comes back', async () => {
    const { send, answerAll, sent } = whenTold();
    const spell = openLoop(send, { rate: 100, duration: 500, maxInFlight: 1_000 });
    // All of them before the first is answered.
    await until('the last arrival', async () => sent() === 50);
    answerAll();
    const { answers, unsent } = await spell;
    expect([answers.length, unsent]).toEqual([50, 0]);
    const [first, second] = answers.map(({ sentAt }) => sentAt);
    expect(Number(second) - Number(first)).toBeCloseTo(10);
  });

  test('a latency begins when its push was due, though it was sent later', async () => {
    const send = async () => {
      const sentAt = performance.now();
      // Nothing else arrives meanwhile.
      while (performance.now() < sentAt + 200);
      return anAnswer('0', sentAt, 200);
    };
    const { answers } = await openLoop(send, { rate: 20, duration: 200, maxInFlight: 100 });
    expect(answers).toHaveLength(4);
    expect(latencyOf(answers.slice(1)).max).toBeGreaterThan(300);
  });

  test('an arrival that would be one too many is not sent, and counted', async () => {
    const { send, answerAll } = whenTold();
    const spell = openLoop(send, { rate: 100, duration: 400, maxInFlight: 5 });
    await sleep(400);
    answerAll();
    const { answers, unsent } = await spell;
    expect(answers.length + unsent).toBe(40);
    expect(unsent).toBeGreaterThan(0);
  });

  test('in a closed loop a connection has one push under way', async () => {
    let underWay = 0;
    let maxInFlight = 0;
    const send = async () => {
      underWay += 1;
      maxInFlight = Math.max(maxInFlight, underWay);
      await sleep(5);
      underWay -= 1;
      return anAnswer('0', 0, 5);
    };
    const { answers } = await closedLoop(send, { connections: 3, duration: 100 });
    expect(maxInFlight).toBe(3);
    // Each connection sends at least one.
    expect(answers.length).toBeGreaterThanOrEqual(3);
  });
});

test.each(['lost ECONNRESET', 'hung', 'not JSON'])('%s is no answer, in any round', (kind) => {
  expect(withoutAnswer({ '0': 5, '503 BACKLOG_FULL': 2, [kind]: 3 })).toEqual({ [kind]: 3 });
});
