/** The goals of a quiet client beside a flooding one: each is seen where it is missed. */
import { type SharedRound, sharedRows } from '../../../tools/bench/fairness';

const answers = (others: Readonly<Record<string, number>> = {}, incomplete = 0) => ({
  ...{ written: { count: 9, p50: 1, p99: 2, max: 3 }, others, incomplete },
});
const FULL = { '503 PARTITION_FULL': 7 };
const GOOD: SharedRound = { alone: answers(), quiet: answers(), flood: answers(FULL) };

const missed = (over: Partial<SharedRound>) =>
  sharedRows([GOOD, { ...GOOD, ...over }])
    .filter(({ passes }) => passes === false)
    .map(({ what }) => what);

test.each<[string[], Partial<SharedRound>]>([
  [[], {}],
  [['quiet client: answers other than 0'], { quiet: answers({ '503 PARTITION_FULL': 1 }) }],
  [['flooding client: 503 PARTITION_FULL in each round'], { flood: answers() }],
  [['503 PARTITION_FULL without Retry-After'], { flood: answers(FULL, 1) }],
])('missed: %j', (what, over) => {
  expect(missed(over)).toEqual(what);
});
