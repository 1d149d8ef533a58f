/** The pushes of a round: upserts whose keys have a certain distribution, or the pushes of a file. */

import { readFileSync } from 'node:fs';
import { groupOf } from '../../../src/domain/matter';
import type { OperationName } from '../../../src/domain/operation';
import { createRedisKeys, partitionOf } from '../../../src/queue/keys';
import { USERNAMES } from '../../harness/directory';
import { firstWhere, sum } from '../../harness/figures';
import { createRandom } from '../../harness/random';

/**
 * How pushes select their matters. `distinct`: a new matter each time; `hot`: one matter; `zipf`: some matters far
 * more often than others.
 */
export type KeyChoice = 'distinct' | 'hot' | 'zipf';

export interface BenchPush {
  readonly operation: OperationName;
  /** As sent. */
  readonly body: string;
}

/** Keys of a Zipf distribution; its exponent is 1. */
const ZIPF_KEYS = 10_000;
/** The content of a to-do with a few sentences. */
const CONTENT = 'A few sentences about what is to be done, as business systems write them. '.repeat(
  3,
);

/**
 * @param round a part of the keys, so that each round creates new matters
 * @param keyOf returns the key of the n-th push; default: the keys of the choice
 * @returns a function that creates the next push; it never ends
 */
export function createLoadPushes(
  keys: KeyChoice,
  round: string,
  keyOf = KEYS[keys](round),
): () => BenchPush {
  let made = 0;
  return () => {
    made += 1;
    const body = JSON.stringify({
      externalId: keyOf(made),
      matterType: 'TODO',
      title: `Purchase order ${made}`,
      content: CONTENT,
      // The time increases with each push, so that most pushes change their matter in any order of arrival.
      sourceUpdatedAt: new Date(EPOCH + made * 1_000).toISOString(),
      parties: [{ username: USERNAMES[made % USERNAMES.length], partyRole: 'ASSIGNEE' }],
    });
    return { operation: 'upsert', body };
  };
}

/** The layout of a bench queue: one shard, and the default number of partitions. */
const LAYOUT = createRedisKeys('bench');

/** Distinct keys whose partition is not that of the hot key. */
export function keysBeside(round: string, systemCode: string, hotKey: string): () => string {
  const partition = (key: string) => partitionOf(groupOf(systemCode, key), LAYOUT);
  const hot = partition(hotKey);
  let made = 0;
  return () => {
    do made += 1;
    while (partition(`${round}-${made}`) === hot);
    return `${round}-${made}`;
  };
}

/** The hot key of a round. */
export const hotKeyOf = (round: string) => `${round}-hot`;

const EPOCH = Date.parse('2024-01-01T00:00:00Z');

const KEYS: Readonly<Record<KeyChoice, (round: string) => (made: number) => string>> = {
  distinct: (round) => (made) => `${round}-${made}`,
  hot: (round) => () => hotKeyOf(round),
  zipf: (round) => {
    const random = createRandom(round);
    const upTo = cumulatedShares();
    return () => {
      const wanted = random.real(0, 1);
      // Because of rounding, the last sum can be less than 1.
      const rank = firstWhere(ZIPF_KEYS - 1, (key) => (upTo[key] ?? 1) >= wanted);
      return `${round}-${rank}`;
    };
  },
};

/** @returns for each rank the share of all pushes that go to the key of this rank or to a more frequent key */
function cumulatedShares(): Float64Array {
  const shares = Float64Array.from({ length: ZIPF_KEYS }, (_, rank) => 1 / (rank + 1));
  const total = sum([...shares]);
  let upTo = 0;
  return shares.map((share) => {
    upTo += share / total;
    return upTo;
  });
}

/** One line of a file for `matterctl push`. */
interface Line {
  readonly op: OperationName;
  readonly body: {
    readonly externalId: string;
    readonly parties?: readonly { readonly username: string }[];
  };
}

/** The users that the pushes of a file name: the service must know them. */
export function usernamesIn(file: string): string[] {
  const named = linesOf(file).flatMap(({ body }) => body.parties ?? []);
  return [...new Set(named.map(({ username }) => username))];
}

function linesOf(file: string): Line[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((text) => text !== '').map((text): Line => JSON.parse(text));
}

/**
 * Distributes the matters of a file over connections. All pushes of one matter use the same connection and keep their
 * order. At the end of its share, a connection repeats the share with new external ids.
 *
 * @returns a function that creates the next push of a connection; it never ends
 */
export function createFilePushes(file: string, connections: number): (of: number) => BenchPush {
  const shares = Array.from({ length: connections }, (): Line[] => []);
  for (const line of linesOf(file)) {
    shares[hashOf(line.body.externalId) % connections]?.push(line);
  }
  const filled = shares.filter((share) => share.length > 0);
  if (filled.length === 0) throw new Error(`no pushes in ${file}`);
  const sent = shares.map(() => 0);
  return (of) => {
    // With more connections than matters, several connections send the same share with different external ids.
    const share = filled[of % filled.length] as Line[];
    const number = sent[of] ?? 0;
    sent[of] = number + 1;
    const { op, body } = share[number % share.length] as Line;
    const copy = `${of}-${Math.floor(number / share.length)}`;
    return {
      operation: op,
      body: JSON.stringify({ ...body, externalId: `${body.externalId}-${copy}` }),
    };
  };
}

/** Similar ids must get different hashes, so a sum of the characters is not enough. */
function hashOf(text: string): number {
  let hash = 0;
  for (const character of text)
    hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}
