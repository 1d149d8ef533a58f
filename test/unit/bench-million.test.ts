/** The goals of a million pushes: each is seen where it is missed. */
import { type MillionFigures, millionRows, type Tenth } from '../../bench/million-rows';

const MIB = 1024 * 1024;

const missed = (figures: MillionFigures) =>
  millionRows(figures)
    .filter(({ passes }) => passes === false)
    .map(({ what }) => what);

const size = (mib: number) => ({ first: mib * MIB, last: mib * MIB, max: mib * MIB });

interface Last {
  readonly web?: number;
  readonly redis?: number;
  readonly signatures?: number;
  readonly rate?: number;
  readonly others?: Tenth['others'];
}

/** Nine tenths like each other, and a last one that may differ. */
function figuresOf(last: Last, crashes: readonly string[] = []): MillionFigures {
  const tenth = ({
    web = 100,
    redis = 20,
    signatures = 0,
    rate = 100,
    others = {},
  }: Last): Tenth => ({
    perSecond: rate,
    memory: { web: size(web), redis: size(redis) },
    signatures: signatures * MIB,
    others,
  });
  return { tenths: [...Array.from({ length: 9 }, () => tenth({})), tenth(last)], crashes };
}

test('all are met, also where Redis grew by the signatures that it is to hold', () => {
  expect(missed(figuresOf({}))).toEqual([]);
  expect(missed(figuresOf({ redis: 60, signatures: 40 }))).toEqual([]);
});

test.each<[string, MillionFigures]>([
  ['web', figuresOf({ web: 116 })],
  ['redis without signatures', figuresOf({ redis: 30 })],
  ['rate of the last tenth', figuresOf({ rate: 89 })],
  ['answers other than code 0', figuresOf({ others: { '503 503': 1 } })],
  ['processes that ended', figuresOf({}, ['worker-0 ended'])],
])('%s is seen where it is missed', (what, figures) => {
  expect(missed(figures)).toEqual([expect.stringContaining(what)]);
});
