/** Which requests count as disturbed by a fault, and by which one of several. */
import type { AttemptEnd } from '../../../tools/chaos/history';
import { troubleAfter } from '../../../tools/chaos/recovery';

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
