/** How one matter here differs from what another system believes of it: pure. */
import type { MatterDifference } from '../contract/comparison';
import type { Matter } from '../domain/matter';

/** What the other side believes; what is undefined is not compared. */
export interface Believed {
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
export function compare(believed: Believed, held: Held | undefined): MatterDifference[] {
  if (!held) return believed.deleted ? [] : ['MISSING'];
  if (held.deleted) return believed.deleted ? [] : ['DELETED'];
  if (believed.deleted) return ['NOT_DELETED'];
  const differences: MatterDifference[] = [];
  const age = compareAge(believed.sourceUpdatedAt, held.sourceUpdatedAt);
  if (age) differences.push(age);
  if (hasOtherStatus(believed, held)) differences.push('STATUS_DIFFERS');
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

function hasOtherStatus({ bizStatus, externalStatusCode }: Believed, held: Held): boolean {
  if (bizStatus !== undefined && bizStatus !== held.bizStatus) return true;
  return (
    externalStatusCode !== undefined &&
    (externalStatusCode ?? '') !== (held.externalStatusCode ?? '')
  );
}
