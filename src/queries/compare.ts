/** How one matter here differs from what another system expects of it: pure. */

import type { Matter } from '../domain/matter';
import type { MatterDifference } from '../protocol/comparison';

/** What the other system expects; an undefined field is not compared. */
export interface ExpectedFields {
  readonly externalId: string;
  readonly bizStatus?: string;
  /** No code and an empty one are the same, as in the digest. */
  readonly externalStatusCode?: string | null;
  /** Epoch milliseconds. */
  readonly sourceUpdatedAt?: number | null;
  readonly deleted?: boolean;
}

export type Held = Pick<Matter, 'bizStatus' | 'externalStatusCode' | 'sourceUpdatedAt' | 'deleted'>;

/** @returns every difference, in the order of the type; none: the same as far as compared */
export function compare(expected: ExpectedFields, held: Held | undefined): MatterDifference[] {
  if (!held) return expected.deleted ? [] : ['MISSING'];
  if (held.deleted) return expected.deleted ? [] : ['DELETED'];
  if (expected.deleted) return ['NOT_DELETED'];
  const differences: MatterDifference[] = [];
  const age = compareAge(expected.sourceUpdatedAt, held.sourceUpdatedAt);
  if (age) differences.push(age);
  if (hasOtherStatus(expected, held)) differences.push('STATUS_DIFFERS');
  return differences;
}

/** Never stamped counts as older than any instant. */
function compareAge(
  theirs: number | null | undefined,
  ours: number | null,
): 'STALE_HERE' | 'NEWER_HERE' | undefined {
  if (theirs === undefined) return undefined;
  const [there, here] = [theirs ?? Number.NEGATIVE_INFINITY, ours ?? Number.NEGATIVE_INFINITY];
  if (here === there) return undefined;
  return here < there ? 'STALE_HERE' : 'NEWER_HERE';
}

function hasOtherStatus({ bizStatus, externalStatusCode }: ExpectedFields, held: Held): boolean {
  if (bizStatus !== undefined && bizStatus !== held.bizStatus) return true;
  return (
    externalStatusCode !== undefined &&
    (externalStatusCode ?? '') !== (held.externalStatusCode ?? '')
  );
}
