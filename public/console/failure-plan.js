/**
 * What sending some failed matters again would come to. Of each matter all pushes are looked at that nothing
 * mended, the oldest first: they are sent in this order or not at all.
 */
import { ask, send } from './ask.js';
import { bodyHashOf, chunksOf, isAboutLines, lineOf, nameOf } from './failure-lines.js';
import { plannedOf } from './failure-planned.js';
import { failedPushesOf, WITH_BODIES, WITHOUT } from './failure-read.js';
import { keyOf } from './mend-guard.js';
import { batchLimits } from './self.js';
import { session, sessionSignal } from './session.js';

/** @typedef {import('./shapes').Entry} Entry */
/** @typedef {import('./shapes').FailedRow} FailedRow */
/** @typedef {import('./failure-planned.js').Setting} Setting */
/** @typedef {import('./failure-planned.js').Places} Places */
/** @typedef {import('./failure-planned.js').PlanState} PlanState */
/** @typedef {import('./failure-planned.js').PlannedMatter} PlannedMatter */
/** @typedef {import('./failure-lines.js').Push} Push */
/** @typedef {{ readonly phase: 'planning' | 'checking', readonly done: number, readonly all: number }} Progress */

/**
 * @param {readonly FailedRow[]} rows
 * @param {{
 *   settings: readonly Setting[],
 *   found: Places,
 *   isChecked: boolean,
 *   signal: AbortSignal,
 *   report: (progress: Progress) => void,
 * }} how `isChecked`: whether the service looks at them first, without writing anything
 * @returns {Promise<PlannedMatter[]>}
 */
export async function makePlan(rows, { settings, found, isChecked, report, ...how }) {
  const signal = AbortSignal.any([how.signal, sessionSignal()]);
  const failed = await failedPushesOf(rows, {
    ...{ page: WITH_BODIES, signal },
    report: (done) => report({ phase: 'planning', done, all: done }),
  });
  const clientId = session.peek()?.clientId ?? '';
  const matters = [...failed].map(([name, entries]) =>
    plannedOf(name, entries, { clientId, settings, found }),
  );
  return isChecked ? await checked(matters, signal, report) : matters;
}

/**
 * A plan beside what still fails now. What was mended after the plan was made must not be sent over it, and what
 * failed since would be left out.
 *
 * @param {readonly PlannedMatter[]} matters @param {readonly FailedRow[]} rows theirs @param {AbortSignal} signal
 * @returns {Promise<PlannedMatter[]>} as they stand now: what may still be sent of them has the state `send`
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
 * What this plan sent failed by that or was written, and nobody was told where an answer was lost. Whatever was
 * written of a matter mends all that failed before.
 *
 * @param {PlannedMatter} matter @param {readonly Entry[]} entries that still fail @param {AbortSignal} signal
 */
async function sentSince(matter, entries, signal) {
  const { externalId, looked, pushes, written } = matter;
  const known = new Set(looked);
  const isOwn = (/** @type {Entry} */ entry) => pushes.some((push) => isPushOf(entry, push));
  const isKnown = (/** @type {Entry} */ { requestId }) => known.has(requestId);
  if (!entries.every((entry) => isKnown(entry) || isOwn(entry))) return droppedOf(matter, entries);
  const isUntouched = entries.some(isKnown) || (externalId === null && entries.length > 0);
  if (isUntouched) return matter;
  if (externalId === null) return droppedOf(matter, entries);
  const question = { externalId, state: 'PERSISTED', limit: 1 };
  const newest = (await ask('push-logs/query', question, signal)).entries[0];
  const all = written ? [written, ...pushes] : pushes;
  const at = newest ? all.findLastIndex((push) => isPushOf(newest, push)) : -1;
  const left = all.slice(at + 1);
  if (at < 0 || left.length === 0) return droppedOf(matter, entries);
  return { ...matter, pushes: left, written: all[at] };
}

/** @param {PlannedMatter} matter @param {readonly Entry[]} entries that still fail @returns {PlannedMatter} */
function droppedOf({ name, externalId }, entries) {
  const state = entries.length === 0 ? 'mended' : 'changed';
  return { name, externalId, state, pushes: [], looked: entries.map(({ requestId }) => requestId) };
}

/** Whether the log has it of this page: under the same key somebody else may have sent another body. @param {Entry} entry @param {Push} push */
const isPushOf = (entry, push) =>
  entry.clientId === session.peek()?.clientId &&
  entry.operation === push.operation &&
  keyOf(entry) === push.key &&
  entry.bodyHash === bodyHashOf(push);

/**
 * @param {PlannedMatter[]} matters
 * @param {AbortSignal} signal
 * @param {(progress: Progress) => void} report
 */
async function checked(matters, signal, report) {
  const sendable = matters.filter(({ state }) => state === 'send');
  const results = new Map(sendable.map(({ name }) => [name, /** @type {any[]} */ ([])]));
  let done = 0;
  for (const chunk of chunksOf(sendable, batchLimits())) {
    report({ phase: 'checking', done, all: sendable.length });
    const found = await resultsOf(
      chunk.flatMap(({ pushes }) => pushes),
      signal,
    );
    for (const { name, pushes } of chunk)
      results.get(name)?.push(...found.splice(0, pushes.length));
    done += chunk.length;
  }
  return matters.map((matter) => {
    const faults = faultsOf(matter.pushes, results.get(matter.name) ?? []);
    const state = /** @type {PlanState} */ ('rejected');
    return faults ? { ...matter, ...faults, state } : matter;
  });
}

/** @param {readonly Push[]} pushes @param {readonly any[]} results theirs @returns {Pick<PlannedMatter, 'why' | 'places'> | undefined} */
function faultsOf(pushes, results) {
  const bad = results.find(({ code }) => code !== 0);
  if (!bad) return undefined;
  const { message, errors = [] } = bad;
  const told = errors.map((/** @type {any} */ it) => `${it.field} ${it.message}`).join('; ');
  const places = new Map(
    pushes.map((push, at) => [
      nameOf(push),
      (results[at]?.errors ?? []).map((/** @type {any} */ it) => it.field),
    ]),
  );
  return { why: told === '' ? message : told, places };
}

/** Of a batch that is refused whole for what stands in it, each has that as its result. @param {readonly Push[]} pushes @param {AbortSignal} signal @returns {Promise<any[]>} */
async function resultsOf(pushes, signal) {
  const body = pushes.map(lineOf).join('\n');
  const envelope = await send('verify/batch', { body, signal });
  const { results } = /** @type {any} */ (envelope.data ?? {});
  if (results) return results;
  const { code, message, reason } = envelope;
  if (!isAboutLines(envelope)) throw new Error(`${message} (${reason})`);
  return pushes.map(() => ({ code, message: `${message} (${reason})` }));
}
