/** Checks before a fixed push is sent: it must not overwrite or hide other pushes of its matter unnoticed. Pure. */
import { OWN_REASONS } from '../read/reasons.js';
import { isResolved } from './resend.js';

/** @typedef {import('../read/shapes').Entry} Entry */
/** @typedef {import('../read/shapes').LogPage} LogPage */
/** @typedef {(question: Record<string, unknown>) => Promise<LogPage>} AskPage a page of push-logs/query */
/** @typedef {import('./resend.js').Result} Result */
/**
 * `askPlan`: the plan of a resend of one push; undefined if its client is another one.
 *
 * @typedef {{ readonly askPage: AskPage, readonly askPlan: (requestId: string) => Promise<Result | undefined> }} Questions
 */
/**
 * `resolved`: the failure is resolved. `queued`: a resend of the push, or a later push of its matter, has no result yet.
 * `others`: other failures of its matter are open. `failed`: all of these, the newest first; the fixed push resolves them
 * all. `count`: how many of them are other pushes.
 *
 * @typedef {{ readonly kind: 'resolved' | 'queued' | 'others', readonly failed: readonly Entry[], readonly count: number }} Objection
 */

/** @typedef {Pick<Entry, 'requestId' | 'idempotencyKey' | 'resentFrom'>} Attempt */

/** The push that a resend sends again: all attempts of a push have one effect. @param {Attempt} attempt */
const firstOf = ({ requestId, resentFrom }) => resentFrom ?? requestId;

/** The key of a fixed push, so that all attempts have one effect. A push without a key gets one that names its first attempt. @param {Attempt} attempt */
export const keyOf = (attempt) => attempt.idempotencyKey ?? `console/${firstOf(attempt)}`;

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
 * @param {Questions} questions
 * @returns {Promise<Objection | undefined>} undefined: the push may be sent
 */
export async function objectionTo(entry, { askPage, askPlan }) {
  const { requestId, externalId } = entry;
  const open = await entriesOf({ requestId, stillFailed: true }, askPage);
  if (open.length === 0) return { kind: 'resolved', failed: [], count: 0 };
  const planned = stateOf(await askPlan(requestId));
  if (planned) return { kind: planned, failed: [], count: 0 };
  if (externalId === null) return undefined;
  const filter = { externalId, reason: OWN_REASONS, stillFailed: true };
  const failed = await entriesOf(filter, askPage);
  const count = failed.filter((other) => !isSame(other, entry)).length;
  return count > 0 ? { kind: 'others', failed, count } : undefined;
}

/** @param {Result | undefined} planned @returns {'resolved' | 'queued' | undefined} */
function stateOf(planned) {
  if (planned?.reason === 'STILL_QUEUED') return 'queued';
  return planned && isResolved(planned) ? 'resolved' : undefined;
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
