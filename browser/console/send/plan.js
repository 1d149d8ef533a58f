/** The plan of a resend, by matter: the service answers for each push, and a matter is sent only as a whole. */
import { subjectOf } from '../read/failure-groups.js';
import { session } from '../read/session.js';
import { isAuthenticated } from './authenticated.js';
import { keyOf } from './fix-guard.js';
import { openFailuresOf } from './open-failures.js';
import { planResend } from './resend.js';
import { fieldOf } from './set-field.js';

/** @typedef {import('../read/shapes').Entry} Entry */
/** @typedef {import('../read/shapes').FailedRow} FailedRow */
/** @typedef {import('./resend.js').FieldValue} FieldValue */
/** @typedef {import('./resend.js').Result} Result */
/** @typedef {{ readonly phase: 'reading' | 'checking', readonly done: number, readonly all: number }} Progress */
/** @typedef {'send' | 'resolved' | 'waiting' | 'foreign' | 'unsigned' | 'bodyless' | 'rejected'} MatterState */
/**
 * @typedef {object} PlannedMatter
 * @property {string} name
 * @property {MatterState} state
 * @property {readonly string[]} pushes request ids that are sent, the oldest first
 * @property {string} [why] the problem of a matter that would be rejected
 * @property {readonly string[]} [fields] its invalid fields
 */

/**
 * @param {readonly FailedRow[]} rows one per selected matter
 * @param {{ set: readonly FieldValue[], signal: AbortSignal, report: (progress: Progress) => void }} how
 * @returns {Promise<PlannedMatter[]>}
 */
export async function makePlan(rows, { set, signal, report }) {
  const failures = await openFailuresOf(rows, {
    signal,
    report: (done) => report({ phase: 'reading', done, all: done }),
  });
  const clientId = session.peek()?.clientId ?? '';
  const matters = rows.map((row) => {
    const name = subjectOf(row);
    return namedOf(name, failures.get(name) ?? [], clientId);
  });
  const ids = matters.flatMap(({ pushes }) => pushes);
  const results = await planResend(ids, {
    ...{ set, signal },
    report: (done) => report({ phase: 'checking', done, all: ids.length }),
  });
  return matters.map((matter) => (matter.state === 'send' ? plannedOf(matter, results) : matter));
}

/**
 * The pushes of a matter that the service is asked for.
 *
 * @param {string} name @param {readonly Entry[]} entries its open failures, the oldest first
 * @param {string} clientId of this session
 * @returns {PlannedMatter}
 */
export function namedOf(name, entries, clientId) {
  const none = (/** @type {MatterState} */ state) => ({ name, state, pushes: [] });
  if (entries.length === 0) return none('resolved');
  const signed = entries.filter(isAuthenticated);
  if (signed.length === 0) return none('unsigned');
  if (signed.some((entry) => entry.clientId !== clientId)) return none('foreign');
  const ids = new Set(signed.map(({ requestId }) => requestId));
  // A fixed push that failed again replaces the first one; a resend is its first push.
  const fixed = new Set(signed.map(({ idempotencyKey }) => idempotencyKey));
  const pushes = signed.filter(
    (entry) =>
      !(entry.idempotencyKey === null && fixed.has(keyOf(entry))) &&
      !(entry.resentFrom !== null && ids.has(entry.resentFrom)),
  );
  // The latest resend of a push may contain values that were set before.
  const latest = new Map(signed.map(({ requestId, resentFrom }) => [resentFrom, requestId]));
  const named = pushes.map(({ requestId }) => latest.get(requestId) ?? requestId);
  return { name, state: 'send', pushes: named };
}

/**
 * A later push must not take effect without an earlier one. So no push of the matter is sent if one of them cannot be.
 *
 * @param {PlannedMatter} matter @param {ReadonlyMap<string, Result>} results
 * @returns {PlannedMatter}
 */
export function plannedOf(matter, results) {
  const { name } = matter;
  const own = matter.pushes.flatMap((id) => results.get(id) ?? []);
  const none = (/** @type {MatterState} */ state) => ({ name, state, pushes: [] });
  const open = own.filter(
    ({ sent, code, reason }) => sent || (code !== 0 && reason !== 'RESOLVED_SINCE'),
  );
  if (open.some(({ reason }) => reason === 'BODY_NOT_STORED' || reason === 'PUSH_NOT_FOUND'))
    return none('bodyless');
  if (open.some(({ reason }) => reason === 'STILL_QUEUED')) return none('waiting');
  const bad = open.filter(({ code }) => code !== 0);
  const [first] = bad;
  if (first) {
    const errors = bad.flatMap((result) => result.errors ?? []);
    const fields = [...new Set(errors.map(({ field }) => fieldOf(field)))];
    return { ...none('rejected'), why: problemText(first), fields };
  }
  if (open.length === 0) return none('resolved');
  return { name, state: 'send', pushes: open.map(({ resentFrom }) => resentFrom) };
}

/** @param {Pick<Result, 'message' | 'errors'>} result */
export const problemText = ({ message, errors = [] }) =>
  errors.map(({ field, message: problem }) => `${field} ${problem}`).join('; ') || message;
