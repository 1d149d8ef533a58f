/**
 * A plan beside the log of now. What was mended after the plan was made must not be sent over it, what failed since
 * would be left out, and of what was sent nobody may have told the end.
 */
import { isAuthenticated } from './authenticated.js';
import { bodyHashOf, isThrough } from './failure-lines.js';
import { failedPushesOf, pushesSince, WITHOUT } from './failure-read.js';
import { isConsoleKey, isUnnamed, keyOf } from './mend-guard.js';
import { session } from './session.js';

/** @typedef {import('./shapes').Entry} Entry */
/** @typedef {import('./shapes').FailedRow} FailedRow */
/** @typedef {import('./failure-lines.js').Push} Push */
/** @typedef {import('./failure-planned.js').PlannedMatter} PlannedMatter */
/** @typedef {import('./failure-planned.js').PlanState} PlanState */
/** @typedef {import('./failure-send.js').Result} Result */

/**
 * @param {readonly PlannedMatter[]} matters @param {readonly FailedRow[]} rows theirs @param {AbortSignal} signal
 * @returns {Promise<PlannedMatter[]>} as they stand now: what may still be sent of them has the state `send`, and
 *   those that turn out to have been sent to their end have it as `result`
 */
export async function lookedAgain(matters, rows, signal) {
  const failed = await failedPushesOf(rows, { page: WITHOUT, signal });
  const now = [];
  for (const matter of matters) {
    const entries = failed.get(matter.name) ?? [];
    now.push(matter.sent ? await sentSince(matter, entries, signal) : unsentSince(matter, entries));
  }
  return now;
}

/** @param {PlannedMatter} matter @param {readonly Entry[]} entries that still fail */
function unsentSince(matter, entries) {
  const ids = entries.map(({ requestId }) => requestId);
  return ids.join() === matter.looked.join() ? matter : droppedOf(matter, entries);
}

/**
 * What this plan sent failed by that or was written, and nobody was told where an answer was lost: it goes on behind
 * what was written. Where anybody else came in between, it does not.
 *
 * @param {PlannedMatter} matter @param {readonly Entry[]} entries that still fail @param {AbortSignal} signal
 * @returns {Promise<PlannedMatter>}
 */
async function sentSince(matter, entries, signal) {
  const { looked, pushes, next = 0 } = matter;
  const known = new Set(looked);
  // What is never sent from here holds nothing else up.
  const stillFailed = new Set(entries.filter(isAuthenticated).map(({ requestId }) => requestId));
  const own = /** @type {Map<number, Entry>} */ (new Map());
  for (const entry of await since(matter, signal)) {
    const { requestId, state } = entry;
    const at = known.has(requestId) ? -1 : pushes.findIndex((push) => isPushOf(entry, push));
    if (at >= 0 && !hasEffect(own.get(at))) own.set(at, entry);
    if (at >= 0 || known.has(requestId) || !isAbout(entry, matter)) continue;
    const others = [...own.values()].some(hasEffect) ? 'parted' : 'changed';
    if (state === 'QUEUED') return droppedOf(matter, entries, others, others);
    if (state === 'PERSISTED' || stillFailed.has(requestId))
      return droppedOf(matter, entries, others);
  }
  const written = [...own].filter(([, entry]) => hasEffect(entry));
  // Mended in a way that is not in sight, such as an operator's resend of what names no matter.
  if (written.length === 0 && entries.length === 0) return droppedOf(matter, entries);
  const done = { ...matter, next: Math.max(next, ...written.map(([at]) => at + 1)) };
  if (written.length > 0) done.begun = true;
  const rejected = [...own].find(([at, { state }]) => at < done.next && state === 'REFUSED');
  const failed = matter.failed ?? (rejected && resultOf(rejected[1]));
  if (failed) done.failed = failed;
  const last = written.at(-1);
  return isThrough(done) && last ? { ...done, result: failed ?? resultOf(last[1]) } : done;
}

/**
 * All that the log has of it since its first push that the plan looked at. What names no matter is given another one
 * when it is sent under another key: it is looked up by its key, too.
 *
 * @param {PlannedMatter} matter @param {AbortSignal} signal
 */
async function since({ externalId, pushes: [first], looked: [oldest = ''] }, signal) {
  const found = /** @type {Map<string, Entry>} */ (new Map());
  const names = [];
  if (externalId !== null) names.push({ externalId });
  if (first && isUnnamed(externalId))
    names.push({ idempotencyKey: first.key, operation: first.operation });
  for (const name of names)
    for await (const entry of pushesSince(name, oldest, signal)) found.set(entry.requestId, entry);
  return [...found.values()].sort((a, b) => (a.requestId < b.requestId ? -1 : 1));
}

/** @param {Entry | undefined} entry */
const hasEffect = (entry) => entry?.state === 'PERSISTED' || entry?.state === 'REPLAYED';

/** A key that names no matter is its client's own, but for those of the console. @param {Entry} entry @param {PlannedMatter} matter */
const isAbout = (entry, { externalId }) =>
  (externalId !== null && entry.externalId === externalId) ||
  isConsoleKey(keyOf(entry)) ||
  isMine(entry);

/** @param {Entry} entry */
const isMine = ({ clientId }) => clientId === session.peek()?.clientId;

/**
 * Whether it is that push, sent from here or tried by its source once more. Under the same key somebody may have sent
 * another body.
 *
 * @param {Entry} entry @param {Push} push
 */
const isPushOf = (entry, push) =>
  isMine(entry) &&
  entry.operation === push.operation &&
  keyOf(entry) === push.key &&
  (entry.bodyHash === push.cameAs || entry.bodyHash === bodyHashOf(push));

/** As the answer would have told it; of a rejection the log has the reason, and not the code. @param {Entry} entry @returns {Result} */
const resultOf = ({ state, outcome, reason, problems }) =>
  state === 'REFUSED'
    ? { code: 400, message: '', reason: reason ?? '', errors: problems }
    : { code: 0, message: '', outcome: outcome ?? '' };

/**
 * @param {PlannedMatter} matter @param {readonly Entry[]} entries that still fail
 * @param {PlanState} [state] where there are any @param {PlanState} [none] where there is none
 * @returns {PlannedMatter}
 */
function droppedOf({ name, externalId }, entries, state = 'changed', none = 'mended') {
  const looked = entries.map(({ requestId }) => requestId);
  return { name, externalId, state: looked.length > 0 ? state : none, pushes: [], looked };
}
