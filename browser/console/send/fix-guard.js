/** Checks before a fixed push is sent: it must not overwrite or hide other pushes of its matter unnoticed. Pure. */
import { OWN_REASONS } from '../read/reasons.js';

/** @typedef {import('../read/shapes').Entry} Entry */
/** @typedef {import('../read/shapes').LogPage} LogPage */
/** @typedef {(question: Record<string, unknown>) => Promise<LogPage>} AskPage a page of push-logs/query */
/**
 * `isResolved`: the failure is resolved. `failed`: the open failures of its matter, the newest first; the fixed push
 * resolves them all. `others`: how many of them are other pushes.
 *
 * @typedef {{ readonly isResolved: boolean, readonly failed: readonly Entry[], readonly others: number }} Objection
 */

/** The key of a fixed push. A push without a key gets one that names it. @param {Pick<Entry, 'requestId' | 'idempotencyKey'>} push */
export const keyOf = ({ requestId, idempotencyKey }) => idempotencyKey ?? `console/${requestId}`;

/** Whether the sender named no matter. The service assigns an id to a valid push. @param {string | null} externalId */
export const isUnnamed = (externalId) => externalId === null || externalId.startsWith('auto:');

/**
 * A key belongs to its client. If only the key identifies a push, its client would create a second matter by pushing it
 * again after another client has sent it.
 *
 * @param {Pick<Entry, 'clientId' | 'externalId' | 'idempotencyKey'>} push @param {string} clientId of this session
 */
export const isForeign = ({ externalId, idempotencyKey, ...push }, clientId) =>
  isUnnamed(externalId) && idempotencyKey !== null && push.clientId !== clientId;

/**
 * @param {Entry} entry
 * @param {AskPage} askPage
 * @returns {Promise<Objection | undefined>} undefined: the push may be sent
 */
export async function objectionTo(entry, askPage) {
  const { requestId, externalId } = entry;
  const open = await openFailures({ requestId }, askPage);
  if (open.length === 0) return { isResolved: true, failed: [], others: 0 };
  if (externalId === null) return undefined;
  const failed = await openFailures({ externalId, reason: OWN_REASONS }, askPage);
  const others = failed.filter((other) => !isSame(other, entry)).length;
  return others > 0 ? { isResolved: false, failed, others } : undefined;
}

/** Whether one is another attempt of the other. @param {Entry} a @param {Entry} b */
const isSame = (a, b) =>
  a.operation === b.operation && (a.bodyHash === b.bodyHash || keyOf(a) === keyOf(b));

/** Failures of one matter that are counted. */
const MAX_COUNTED = 1_000;

/** A page may be empty without being the last one. @param {Record<string, unknown>} question @param {AskPage} askPage */
async function openFailures(question, askPage) {
  const found = /** @type {Entry[]} */ ([]);
  let cursor = null;
  do {
    const filter = { ...question, stillFailed: true };
    const page = await askPage({ ...filter, limit: 500, ...(cursor && { cursor }) });
    found.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor !== null && found.length < MAX_COUNTED);
  return found;
}
