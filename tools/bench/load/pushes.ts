/** What a round pushes: upserts whose keys have a certain distribution. */

import type { OperationName } from '../../../src/domain/operation';
import { USERNAMES } from '../../chaos/directory';
import { createRandom } from '../../chaos/random';

/** Whose matters they are: distinct ones, one for all, or some far more often than others. */
export type KeyChoice = 'distinct' | 'hot' | 'zipf';

export interface BenchPush {
  readonly operation: OperationName;
  /** As sent. */
  readonly body: string;
}

/** Keys of a Zipf distribution; its exponent is 1. */
const ZIPF_KEYS = 10_000;
/** Characters: a to-do with a few sentences. */
const CONTENT = 'A few sentences about what is to be done, as business systems write them. '.repeat(
  3,
);

/**
 * @param round part of the keys, so that every round of every contender creates matters of its own
 * @returns the next push, without an end
 */
export function createPushes(keys: KeyChoice, round: string): () => BenchPush {
  const keyOf = KEYS[keys](round);
  let made = 0;
  return () => {
    made += 1;
    const body = JSON.stringify({
      externalId: keyOf(made),
      matterType: 'TODO',
      title: `Purchase order ${made}`,
      content: CONTENT,
      // Newer each time: whatever the order of arrival, most change something.
      sourceUpdatedAt: new Date(EPOCH + made * 1_000).toISOString(),
      parties: [{ username: USERNAMES[made % USERNAMES.length], partyRole: 'ASSIGNEE' }],
    });
    return { operation: 'upsert', body };
  };
}

const EPOCH = Date.parse('2024-01-01T00:00:00Z');

const KEYS: Readonly<Record<KeyChoice, (round: string) => (made: number) => string>> = {
  distinct: (round) => (made) => `${round}-${made}`,
  hot: (round) => () => `${round}-hot`,
  zipf: (round) => {
    const random = createRandom(round);
    const upTo = cumulatedShares();
    return () => `${round}-${firstAbove(upTo, random.real(0, 1))}`;
  },
};

/** Of the keys by their rank: the share of all pushes that go to it or one before it. */
function cumulatedShares(): Float64Array {
  const shares = Float64Array.from({ length: ZIPF_KEYS }, (_, rank) => 1 / (rank + 1));
  const total = shares.reduce((sum, share) => sum + share, 0);
  let sum = 0;
  return shares.map((share) => {
    sum += share / total;
    return sum;
  });
}

function firstAbove(upTo: Float64Array, wanted: number): number {
  let low = 0;
  let high = upTo.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((upTo[middle] ?? 1) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
