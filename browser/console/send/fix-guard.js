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

/** @typedef {Pick<Entry, 'requestId' | 'idempotencyKey' | 'resentFrom'>} Attempt */

/** The push that a resend sends again: all attempts of a push have one effect. @param {Attempt} attempt */
const firstOf = ({ requestId, resentFrom }) => resentFrom ?? requestId;

/** The key of a fixed push. A push without a key gets one that names its first attempt. @param {Attempt} attempt */
export const keyOf = (attempt) => attempt.idempotencyKey ?? `console/${firstOf(attempt)}`;

/**
 * The log entry of a resend does not have the idempotency key of its first push.
 *
 * @param {Attempt} attempt
 * @param {AskPage} askPage
 * @returns {Promise<string>} the key with which the fixed push is sent
 */
export async function keyForFix(attempt, askPage) {
  const { idempotencyKey, resentFrom } = attempt;
  if (idempotencyKey !== null || resentFrom === null) return keyOf(attempt);
  const [first] = await entriesOf({ requestId: resentFrom }, askPage);
  return keyOf(first ?? attempt);
}

/** Whether the sender named no matter. The service assigns an id to a valid push. @param {string | null} externalId */
export const isUnnamed = (externalId) => externalId === null || externalId.startsWith('auto:');

/**
 * A key belongs to its client. If only the key identifies a push, its client would create a second matter by pushing it
 * again after another client has sent it. The first push of a resend may have a key.
 *
 * @param {Pick<Entry, 'clientId' | 'externalId' | 'idempotencyKey' | 'resentFrom'>} push @param {string} clientId of this session
 */
export const isForeign = ({ externalId, idempotencyKey, resentFrom, ...push }, clientId) =>
  isUnnamed(externalId) &&
  (idempotencyKey !== null || resentFrom !== null) &&
  push.clientId !== clientId;

/**
 * @param {Entry} entry
 * @param {AskPage} askPage
 * @returns {Promise<Objection | undefined>} undefined: the push may be sent
 */
export async function objectionTo(entry, askPage) {
  const { requestId, externalId } = entry;
  const open = await entriesOf({ requestId, stillFailed: true }, askPage);
  if (open.length === 0) return { isResolved: true, failed: [], others: 0 };
  if (externalId === null) return undefined;
  const filter = { externalId, reason: OWN_REASONS, stillFailed: true };
  const failed = await entriesOf(filter, askPage);
  const others = failed.filter((other) => !isSame(other, entry)).length;
  return others > 0 ? { isResolved: false, failed, others } : undefined;
}

/** Whether one is another attempt of the other. @param {Entry} a @param {Entry} b */
const isSame = (a, b) =>
  a.operation === b.operation &&
  (a.bodyHash === b.bodyHash || keyOf(a) === keyOf(b) || firstOf(a) === firstOf(b));

/** Entries of one push or matter that are read. */
const MAX_READ = 1_000;

/** A page may be empty without being the last one. @param {Record<string, unknown>} filter @param {AskPage} askPage */
async function entriesOf(filter, askPage) {
  const found = /** @type {Entry[]} */ ([]);
  let cursor = null;
  do {
    const page = await askPage({ ...filter, limit: 500, ...(cursor && { cursor }) });
    found.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor !== null && found.length < MAX_READ);
  return found;
}
