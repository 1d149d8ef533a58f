/** The goals of the overload: each one that is missed is seen. */
import { type FairnessRound, fairnessRows } from '../../../tools/chaos/fairness';
import { type OverloadFigures, overloadRows } from '../../../tools/chaos/overload-rows';
import type { ReportRow } from '../../../tools/harness/report';

const MIB = 1024 * 1024;

const missed = (rows: readonly ReportRow[]) =>
  rows.filter(({ passes }) => passes === false).map(({ what }) => what);

describe('goals of the overload', () => {
  const latency = { count: 9, p50: 1, p99: 2, max: 3 };
  const ownDelay = { p99: 1, max: 2 };
  const round = {
    peaks: [
      { connections: 64, perSecond: 90 },
      { connections: 128, perSecond: 100 },
    ],
    rate: 300,
    perSecond: 96,
    accepted: latency,
    rejected: latency,
    rejectedWithoutRetryAfter: 0,
    late: 0,
    others: {},
    unsent: 0,
    ownDelay,
  };
  const stall = {
    lasted: 15_000,
    slowest: 10_500,
    answers: { '0': 5, '504 CONFIRMATION_TIMEOUT': 5 },
    backAfter: 300,
    perSecondAtLast: 90,
    unsent: 0,
    crashes: [],
    memory: { web: { first: MIB, last: MIB, max: 200 * MIB } },
    ownDelay,
  };
  const figures: OverloadFigures = {
    pushTimeout: 10_000,
    line: { unthrottled: 300, throttled: 100, bytesPerSecond: 1e6 },
    rounds: [round],
    stall,
  };
  const inRound = (over: Partial<typeof round>) => ({ rounds: [{ ...round, ...over }] });
  const inStall = (over: object) => ({ stall: { ...stall, ...over } });

  test('all are met', () => {
    expect(missed(overloadRows(figures))).toEqual([]);
  });

  test.each<[string, Partial<OverloadFigures>]>([
    ['goodput', inRound({ perSecond: 94 })],
    ['rejections 503, p50', inRound({ rejected: { ...latency, p99: 10.5 } })],
    ['without Retry-After', inRound({ rejectedWithoutRetryAfter: 1 })],
    ['accepted and confirmed', inRound({ accepted: { ...latency, max: 11_001 } })],
    ['late (504)', inRound({ late: 1 })],
    ['any other answer', inRound({ others: { '429 RATE_LIMITED': 1 } })],
    ['not sent', inRound({ unsent: 1 })],
    ['slowest answer', inStall({ slowest: 11_001 })],
    ['without an answer', inStall({ answers: { 'lost ECONNRESET': 1 } })],
    ['without an answer', inStall({ answers: { hung: 1 } })],
    ['without an answer', inStall({ answers: { 'not JSON': 1 } })],
    ['processes that ended', inStall({ crashes: ['web-0 ended'] })],
    ['memory of web', inStall({ memory: { web: { first: 0, last: 0, max: 600 * MIB } } })],
    ['continues after', inStall({ backAfter: undefined })],
    ['rate soon after', inStall({ perSecondAtLast: 40 })],
  ])('%s is seen where it is missed', (what, over) => {
    expect(missed(overloadRows({ ...figures, ...over }))).toEqual([expect.stringContaining(what)]);
  });
});

describe('goals of fairness', () => {
  const times = (p99: number) => ({ count: 9, p50: 5, p99, max: p99 });
  const alone = { beside: 'alone', quiet: times(15), quietOthers: {}, ownDelay: 1 } as const;
  const neighbour = { sent: 100, limited: times(2), incomplete: 0, others: { '0': 20 } };
  const within = { ...alone, beside: 'within', quiet: times(20), neighbour } as const;
  const rowsOf = (over: Partial<FairnessRound>) =>
    fairnessRows([alone, within, { ...within, beside: 'noisy', ...over }, alone]);

  test('all are met', () => {
    expect(missed(rowsOf({ quiet: times(29) }))).toEqual([]);
  });

  test.each<[string, Partial<FairnessRound>]>([
    ['p99 of 300/s', { quiet: times(31) }],
    ['answers other than 0', { quietOthers: { '429 RATE_LIMITED': 1 } }],
    ['without Retry-After', { neighbour: { ...neighbour, incomplete: 1 } }],
    ['without an answer', { neighbour: { ...neighbour, others: { hung: 1 } } }],
    [
      'noisy client: 429, of all its pushes',
      { neighbour: { ...neighbour, limited: { ...times(0), count: 0 } } },
    ],
  ])('%s is seen where it is missed', (what, over) => {
    expect(missed(rowsOf(over))).toEqual([expect.stringContaining(what)]);
  });
});
