/** Which requests count as disturbed by a fault, by which one of several, and from which duration on. */
import type { AttemptEnd } from '../../../tools/chaos/history';
import { recoveryReport, troubleAfter, unusualAbove } from '../../../tools/chaos/recovery';

const FROM = 100_000;
const UNTIL = 112_000;
const well = { kind: 'answered', code: 0 } as AttemptEnd;

/** A request by its times from the fault on. */
const request = (sent: number, took: number, end: AttemptEnd = well) => ({
  sentAt: FROM + sent,
  endedAt: FROM + sent + took,
  end,
});
const trouble = (...requests: ReturnType<typeof request>[]) => troubleAfter(requests, FROM, UNTIL);

test('the end of the last request that took long, failed, or got no answer', () => {
  expect(trouble(request(-200, 900), request(1_000, 20))).toBe(700);
  expect(trouble(request(800, 5, { ...well, code: 503 } as AttemptEnd))).toBe(805);
  expect(trouble(request(900, 5, { kind: 'lost' } as unknown as AttemptEnd))).toBe(905);
  expect(trouble(request(10, 400))).toBe(0);
});

test('what ended before the fault is none of its', () => {
  expect(trouble(request(-3_000, 2_900))).toBe(0);
});

test('what the next fault disturbs is none of its; what was stuck before that is', () => {
  expect(trouble(request(11_900, 2_300))).toBe(0);
  expect(trouble(request(12_100, 5, { ...well, code: 503 } as AttemptEnd))).toBe(0);
  expect(trouble(request(200, 14_000))).toBe(14_200);
});

test('a slow machine delays requests without a fault too: these are not disturbed', () => {
  expect(unusualAbove([request(0, 80), request(0, 200)])).toBe(500);
  const unusual = unusualAbove([request(0, 80), request(0, 600)]);
  expect(unusual).toBe(900);
  const requests = [request(100, 700), request(5_000, 850)];
  expect(troubleAfter(requests, FROM, UNTIL, unusual)).toBe(0);
  expect(troubleAfter([...requests, request(100, 901)], FROM, UNTIL, unusual)).toBe(1_001);
});

test('no disturbed push can be told from others after a failed or slow push, or after none', () => {
  expect(unusualAbove([request(0, 1_000)])).toBe(1_500);
  expect(() => unusualAbove([request(0, 1_001)])).toThrow('A push took 1001 ms before');
  expect(() => unusualAbove([])).toThrow('there were no pushes');
  expect(() => unusualAbove([request(0, 5, { ...well, code: 503 } as AttemptEnd)])).toThrow(
    'a push failed',
  );
});

describe('the report', () => {
  const times = {
    ...{ unusual: 500, usual: 40, later: 60 },
    ...{ worker: [2_000], redis: [900], mongo: [900], primary: [900] },
  };

  test('passes if every fault and the time after it reach their goals', () => {
    expect(recoveryReport(times).passed).toBe(true);
  });

  test('fails for a slow fault, and for pushes that stay slow', () => {
    expect(recoveryReport({ ...times, worker: [2_000, 3_001] }).passed).toBe(false);
    expect(recoveryReport({ ...times, later: 81 }).passed).toBe(false);
  });
});
