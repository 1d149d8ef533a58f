/**
 * What sending some failed matters again would come to. Of each matter all pushes are looked at that nothing
 * mended, the oldest first: they are sent in this order or not at all.
 */
import { ask, send } from './ask.js';
import { subjectOf } from './failure-groups.js';
import { chunksOf, lineOf } from './failure-lines.js';
import { nameOf, plannedOf } from './failure-planned.js';
import { OWN_REASONS } from './reasons.js';
import { sessionSignal } from './session.js';

/** @typedef {import('./shapes').Entry} Entry */
/** @typedef {import('./shapes').FailedRow} FailedRow */
/** @typedef {import('./failure-planned.js').Setting} Setting */
/** @typedef {import('./failure-planned.js').Places} Places */
/** @typedef {import('./failure-planned.js').PlanState} PlanState */
/** @typedef {import('./failure-planned.js').PlannedMatter} PlannedMatter */
/** @typedef {import('./failure-lines.js').Push} Push */
/** @typedef {{ readonly phase: 'planning' | 'checking', readonly done: number, readonly all: number }} Progress */

/** Matters that are asked for one by one; more are found by reading all that still failed. */
const FEW = 20;
/** The most that the service gives with bodies, and without. */
const WITH_BODIES = { includeBody: true, limit: 50 };
const WITHOUT = { limit: 500 };

/**
 * @param {readonly FailedRow[]} rows
 * @param {{
 *   window: Record<string, unknown>,
 *   settings: readonly Setting[],
 *   found: Places,
 *   isChecked: boolean,
 *   signal: AbortSignal,
 *   report: (progress: Progress) => void,
 * }} how `isChecked`: whether the service looks at them first, without writing anything
 * @returns {Promise<PlannedMatter[]>}
 */
export async function makePlan(rows, { window, settings, found, isChecked, report, ...how }) {
  const signal = AbortSignal.any([how.signal, sessionSignal()]);
  const wanted = new Map(rows.map((row) => [subjectOf(row), /** @type {Entry[]} */ ([])]));
  let done = 0;
  for await (const entries of failedPushes(rows, { window, signal, page: WITH_BODIES })) {
    for (const entry of entries) wanted.get(subjectOf(entry))?.push(entry);
    done += entries.length;
    report({ phase: 'planning', done, all: done });
  }
  const matters = [...wanted].map(([name, entries]) => plannedOf(name, entries, settings, found));
  return isChecked ? await checked(matters, signal, report) : matters;
}

/**
 * Which of them nothing mended until now.
 *
 * @param {readonly FailedRow[]} rows @param {Omit<Reading, 'page'>} how
 * @returns {Promise<ReadonlySet<string>>} their names
 */
export async function stillFailedOf(rows, how) {
  const names = new Set();
  for await (const entries of failedPushes(rows, { ...how, page: WITHOUT })) {
    for (const entry of entries) names.add(subjectOf(entry));
  }
  return names;
}

/** @typedef {{ window: Record<string, unknown>, signal: AbortSignal, page: Record<string, unknown> }} Reading */

/**
 * Nothing whose signature was wrong is among them: somebody else may have written it.
 *
 * @param {readonly FailedRow[]} rows @param {Reading} how
 * @returns {AsyncGenerator<readonly Entry[]>}
 */
async function* failedPushes(rows, { window, signal, page }) {
  const common = { stillFailed: true, reason: OWN_REASONS, ...window, ...page };
  if (rows.length > FEW) return yield* pagesOf(common, signal);
  for (const { externalId, idempotencyKey, operation, requestId } of rows) {
    if (externalId !== null) yield* pagesOf({ ...common, externalId }, signal);
    else if (idempotencyKey === null) yield* pagesOf({ ...common, requestId }, signal);
    else yield* pagesOf({ ...common, idempotencyKey, operation }, signal);
  }
}

/** @param {Record<string, unknown>} question @param {AbortSignal} signal @returns {AsyncGenerator<readonly Entry[]>} */
async function* pagesOf(question, signal) {
  const body = { ...question, oldestFirst: true };
  let cursor = null;
  do {
    const page = await ask('push-logs/query', { ...body, ...(cursor && { cursor }) }, signal);
    yield page.entries;
    cursor = page.nextCursor;
  } while (cursor !== null);
}

/**
 * @param {PlannedMatter[]} matters
 * @param {AbortSignal} signal
 * @param {(progress: Progress) => void} report
 */
async function checked(matters, signal, report) {
  const sendable = matters.filter(({ state }) => state === 'send');
  const found = new Map(/** @type {[string, Pick<PlannedMatter, 'why' | 'places'>][]} */ ([]));
  let done = 0;
  for (const chunk of chunksOf(sendable)) {
    report({ phase: 'checking', done, all: sendable.length });
    const lines = chunk.flatMap(({ pushes }) => pushes.map(lineOf));
    const results = await resultsOf(lines, signal);
    for (const { name, pushes } of chunk) {
      const faults = faultsOf(pushes, results.splice(0, pushes.length));
      if (faults) found.set(name, faults);
    }
    done += chunk.length;
  }
  return matters.map((matter) => {
    const faults = found.get(matter.name);
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

/** @param {readonly string[]} lines @param {AbortSignal} signal @returns {Promise<any[]>} */
async function resultsOf(lines, signal) {
  const envelope = await send('verify/batch', { body: lines.join('\n'), signal });
  const { results } = /** @type {any} */ (envelope.data ?? {});
  if (!results) throw new Error(`${envelope.message} (${envelope.reason})`);
  return results;
}
