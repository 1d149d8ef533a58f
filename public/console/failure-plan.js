/**
 * What sending some failed matters again would come to. Of each matter all pushes are looked at that nothing
 * mended, the oldest first: they are sent in this order or not at all.
 */
import { ask, send } from './ask.js';
import { subjectOf } from './failure-groups.js';
import { chunksOf, lineOf } from './failure-lines.js';
import { plannedOf } from './failure-planned.js';
import { OWN_REASONS } from './reasons.js';

/** @typedef {import('./shapes').Entry} Entry */
/** @typedef {import('./shapes').FailedRow} FailedRow */
/** @typedef {import('./set-field.js').Change} Change */
/** @typedef {import('./failure-planned.js').PlanState} PlanState */
/** @typedef {import('./failure-planned.js').PlannedMatter} PlannedMatter */
/** @typedef {{ readonly phase: 'planning' | 'checking', readonly done: number, readonly all: number }} Progress */

/** Matters that are asked for one by one; more are found by reading all that still failed. */
const FEW = 20;
/** The most that the service gives with bodies. */
const PAGE = 50;

/**
 * @param {readonly FailedRow[]} rows
 * @param {{
 *   window: Record<string, unknown>,
 *   set?: { field: string, change: Change } | undefined,
 *   isChecked: boolean,
 *   signal: AbortSignal,
 *   report: (progress: Progress) => void,
 * }} how `isChecked`: whether the service looks at them first, without writing anything
 * @returns {Promise<PlannedMatter[]>}
 */
export async function makePlan(rows, { window, set, isChecked, signal, report }) {
  const wanted = new Map(rows.map((row) => [subjectOf(row), /** @type {Entry[]} */ ([])]));
  let done = 0;
  for await (const entries of failedPushes(rows, window, signal)) {
    for (const entry of entries) wanted.get(subjectOf(entry))?.push(entry);
    done += entries.length;
    report({ phase: 'planning', done, all: done });
  }
  const matters = [...wanted].map(([name, entries]) => plannedOf(name, entries, set));
  return isChecked ? await checked(matters, signal, report) : matters;
}

/**
 * Nothing whose signature was wrong is among them: somebody else may have written it.
 *
 * @param {readonly FailedRow[]} rows @param {Record<string, unknown>} window @param {AbortSignal} signal
 * @returns {AsyncGenerator<readonly Entry[]>}
 */
async function* failedPushes(rows, window, signal) {
  const common = { stillFailed: true, reason: OWN_REASONS, ...window };
  if (rows.length > FEW) return yield* pagesOf(common, signal);
  for (const { externalId, idempotencyKey, operation, requestId } of rows) {
    if (externalId !== null) yield* pagesOf({ ...common, externalId }, signal);
    else if (idempotencyKey === null) yield* pagesOf({ ...common, requestId }, signal);
    else yield* pagesOf({ ...common, idempotencyKey, operation }, signal);
  }
}

/** @param {Record<string, unknown>} question @param {AbortSignal} signal @returns {AsyncGenerator<readonly Entry[]>} */
async function* pagesOf(question, signal) {
  const body = { ...question, includeBody: true, oldestFirst: true, limit: PAGE };
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
  const found = new Map(/** @type {[string, string][]} */ ([]));
  let done = 0;
  for (const chunk of chunksOf(sendable)) {
    report({ phase: 'checking', done, all: sendable.length });
    const owners = chunk.flatMap(({ name, pushes }) => pushes.map(() => name));
    const lines = chunk.flatMap(({ pushes }) => pushes.map(lineOf));
    for (const [at, { code, message, errors = [] }] of (await resultsOf(lines, signal)).entries()) {
      const name = owners[at] ?? '';
      if (code === 0 || found.has(name)) continue;
      const told = errors.map((/** @type {any} */ it) => `${it.field} ${it.message}`).join('; ');
      found.set(name, told === '' ? message : told);
    }
    done += chunk.length;
  }
  return matters.map((matter) => {
    const why = found.get(matter.name);
    return why === undefined
      ? matter
      : { ...matter, state: /** @type {PlanState} */ ('rejected'), why };
  });
}

/** @param {readonly string[]} lines @param {AbortSignal} signal @returns {Promise<any[]>} */
async function resultsOf(lines, signal) {
  const envelope = await send('verify/batch', { body: lines.join('\n'), signal });
  const { results } = /** @type {any} */ (envelope.data ?? {});
  if (!results) throw new Error(`${envelope.message} (${envelope.reason})`);
  return results;
}
