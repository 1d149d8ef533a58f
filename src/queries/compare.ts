/** Compares a matter of the ledger with the expected values. The console (`browser/console`) bundles this file. */

import type { Matter } from '../domain/matter';
import type { MatterDifference } from '../protocol/matter-answers';

export interface ExpectedFields {
  readonly externalId: string;
  readonly bizStatus?: string;
  /** Null and an empty text count as equal. */
  readonly externalStatusCode?: string | null;
  /** Epoch milliseconds. */
  readonly sourceUpdatedAt?: number | null;
  /** Undefined counts as false. */
  readonly deleted?: boolean;
}

export type LedgerValues = Pick<
  Matter,
  'bizStatus' | 'externalStatusCode' | 'sourceUpdatedAt' | 'deleted'
>;

export function compareWithLedger(
  expected: ExpectedFields,
  stored: LedgerValues | undefined,
): MatterDifference[] {
  if (!stored) return expected.deleted ? [] : ['MISSING'];
  if (stored.deleted) return expected.deleted ? [] : ['DELETED'];
  if (expected.deleted) return ['NOT_DELETED'];
  const differences: MatterDifference[] = [];
  const age = compareAge(expected.sourceUpdatedAt, stored.sourceUpdatedAt);
  if (age) differences.push(age);
  if (hasOtherStatus(expected, stored)) differences.push('STATUS_DIFFERS');
  return differences;
}

function compareAge(
  theirs: number | null | undefined,
  ours: number | null,
): 'STALE_HERE' | 'NEWER_HERE' | undefined {
  if (theirs === undefined) return undefined;
  const [there, here] = [theirs ?? Number.NEGATIVE_INFINITY, ours ?? Number.NEGATIVE_INFINITY];
  if (here === there) return undefined;
  return here < there ? 'STALE_HERE' : 'NEWER_HERE';
}

function hasOtherStatus(
  { bizStatus, externalStatusCode }: ExpectedFields,
  stored: LedgerValues,
): boolean {
  if (bizStatus !== undefined && bizStatus !== stored.bizStatus) return true;
  return (
    externalStatusCode !== undefined &&
    (externalStatusCode ?? '') !== (stored.externalStatusCode ?? '')
  );
}
