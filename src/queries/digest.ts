/**
 * The digest of a set of matters: count and hash. Source systems compute the same hash, so these rules must not
 * change:
 *
 * - The line of a matter is `externalId + "\n" + bizStatus + "\n" + (externalStatusCode or "") + "\n" +
 *   (sourceUpdatedAt as epoch milliseconds in decimal, or "")`, in UTF-8.
 * - The hash of a matter is the first 8 bytes of SHA-256(line).
 * - The hash of a set is the XOR of the hashes of its matters, as 16 lower-case hex digits.
 */
import { hash } from 'node:crypto';
import type { Matter } from '../domain/matter';
import type { Digest, DigestBucket } from '../protocol/matter-answers';

export type DigestLine = Pick<
  Matter,
  'externalId' | 'bizStatus' | 'externalStatusCode' | 'sourceUpdatedAt'
>;

/** The hash is split into two numbers of 32 bits, because BigInt arithmetic is slow. */
interface Sum {
  count: number;
  high: number;
  low: number;
}

const emptySum = (): Sum => ({ count: 0, high: 0, low: 0 });

/** A bucket has the matters with the same bizType and the same day of `sourceUpdatedAt`. */
export interface BucketDigest {
  add(matter: DigestLine & Pick<Matter, 'bizType'>): void;
  size(): number;
  total(): Digest;
  /** Sorted by bizType, then by day. Null comes first. */
  buckets(): DigestBucket[];
}

/** @param dayOf converts epoch milliseconds to the local day, yyyy-MM-dd */
export function createBucketDigest(dayOf: (instant: number) => string): BucketDigest {
  const byType = new Map<string | null, Map<string | null, Sum>>();
  const total = emptySum();
  let size = 0;
  return {
    add: (matter) => {
      const { bizType, sourceUpdatedAt } = matter;
      const day = sourceUpdatedAt === null ? null : dayOf(sourceUpdatedAt);
      const byDay = byType.get(bizType) ?? new Map<string | null, Sum>();
      byType.set(bizType, byDay);
      let sum = byDay.get(day);
      if (!sum) {
        sum = emptySum();
        byDay.set(day, sum);
        size += 1;
      }
      const hashed = hash('sha256', lineOf(matter), 'buffer');
      addTo(sum, hashed);
      addTo(total, hashed);
    },
    size: () => size,
    total: () => toDigest(total),
    buckets: () =>
      sorted(byType).flatMap(([bizType, byDay]) =>
        sorted(byDay).map(([day, sum]) => ({ bizType, day, ...toDigest(sum) })),
      ),
  };
}

function lineOf({ externalId, bizStatus, externalStatusCode, sourceUpdatedAt }: DigestLine) {
  return `${externalId}\n${bizStatus}\n${externalStatusCode ?? ''}\n${sourceUpdatedAt ?? ''}`;
}

function addTo(sum: Sum, hashed: Buffer): void {
  sum.count += 1;
  sum.high ^= hashed.readInt32BE(0);
  sum.low ^= hashed.readInt32BE(4);
}

function toDigest({ count, high, low }: Sum): Digest {
  return { count, hash: hex(high) + hex(low) };
}

const hex = (half: number) => (half >>> 0).toString(16).padStart(8, '0');

function sorted<T>(map: ReadonlyMap<string | null, T>): [string | null, T][] {
  return [...map].sort(([a], [b]) => {
    if (a === b) return 0;
    if (a === null || b === null) return a === null ? -1 : 1;
    return a < b ? -1 : 1;
  });
}
