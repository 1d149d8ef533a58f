/** The goals of single pushes beside batches: each is seen where it is missed. */
import { besideRows } from '../../../tools/bench/batch-beside';

interface Seen {
  /** p99 beside batches, milliseconds; alone it is 10. */
  readonly p99?: number;
  /** Pushes of the batches at an overload; the single ones are 100. */
  readonly batches?: number;
  readonly others?: Readonly<Record<string, number>>;
}

function roundsOf({ p99 = 20, batches = 150, others = {} }: Seen) {
  const result = (accepted: number, late: number) => ({
    ...{ accepted, others: {}, elapsed: 1_000 },
    ...{ p50: late / 2, p99: late, max: late },
  });
  return [
    { setting: '4 connections alone', singles: result(50, 10) },
    {
      setting: '4 beside 8 with batches of 200',
      singles: { ...result(50, p99), others },
      other: result(900, 90),
    },
    {
      setting: '256 beside 8 with batches of 200',
      singles: { ...result(100, 900), others: { '503 BACKLOG_FULL': 9 } },
      other: result(batches, 900),
    },
  ];
}

const missed = (seen: Seen) =>
  besideRows(roundsOf(seen))
    .filter(({ passes }) => passes === false)
    .map(({ what }) => what);

test.each<[string[], Seen]>([
  [[], {}],
  [['p99 beside 8 x 200 / alone'], { p99: 21 }],
  [['overload: pushes per second in batches / in single pushes'], { batches: 151 }],
  [['single pushes that failed beside batches'], { others: { '503 BACKLOG_FULL': 1 } }],
])('missed: %j', (what, seen) => {
  expect(missed(seen)).toEqual(what);
});
