/** The goals of a million pushes: each is seen where it is missed. */
import { type MillionFigures, millionRows, type Tenth } from '../../../tools/bench/million';

const MIB = 1024 * 1024;

const missed = (figures: MillionFigures) =>
  millionRows(figures)
    .filter(({ passes }) => passes === false)
    .map(({ what }) => what);

const size = (mib: number) => ({ first: mib * MIB, last: mib * MIB, max: mib * MIB });

interface Last {
  readonly web?: number;
  /** What Redis holds, and what its process takes for it. */
  readonly redis?: number;
  readonly process?: number;
  readonly signatures?: number;
  readonly rate?: number;
  readonly others?: Tenth['others'];
}

/** Nine tenths like each other, and a last one that may differ. */
function figuresOf(last: Last, crashes: readonly string[] = []): MillionFigures {
  const tenth = ({
    web = 100,
    redis = 20,
    process = 1.5 * redis,
    signatures = 0,
    rate = 100,
    others = {},
  }: Last): Tenth => ({
    perSecond: rate,
    memory: { web: size(web), redis: size(process), 'redis data': size(redis) },
    signatures: signatures * MIB,
    others,
  });
  return { tenths: [...Array.from({ length: 9 }, () => tenth({})), tenth(last)], crashes };
}

test('all are met, also where Redis grew by the signatures that it is to hold, or pushes were shed', () => {
  expect(missed(figuresOf({}))).toEqual([]);
  expect(missed(figuresOf({ redis: 60, signatures: 40 }))).toEqual([]);
  expect(missed(figuresOf({ others: { '503 BACKLOG_FULL': 9 } }))).toEqual([]);
});

test.each<[string, MillionFigures]>([
  ['web', figuresOf({ web: 116 })],
  ['redis data without signatures', figuresOf({ redis: 30 })],
  ["redis' process", figuresOf({ process: 36 })],
  ['rate of the last tenth', figuresOf({ rate: 89 })],
  ['other answers than code 0', figuresOf({ others: { '503 QUEUE_UNAVAILABLE': 1 } })],
  ['processes that ended', figuresOf({}, ['worker-0 ended'])],
])('%s is seen where it is missed', (what, figures) => {
  expect(missed(figures)).toEqual([expect.stringContaining(what)]);
});
