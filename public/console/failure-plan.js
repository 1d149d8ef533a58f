/**
 * What sending some failed matters again would come to. Of each matter all pushes are looked at that nothing
 * mended, the oldest first: they are sent in this order or not at all.
 */
import { send } from './ask.js';
import { chunksOf, isAboutLines, lineOf, nameOf } from './failure-lines.js';
import { plannedOf } from './failure-planned.js';
import { failedPushesOf, WITH_BODIES } from './failure-read.js';
import { batchLimits, self } from './self.js';
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
  const secretId = self.peek()?.signedWith.secretId;
  const matters = [...failed].map(([name, entries]) =>
    plannedOf(name, entries, { clientId, secretId, settings, found }),
  );
  return isChecked ? await checked(matters, signal, report) : matters;
}

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
    for (const { matter, pushes } of chunk)
      results.get(matter.name)?.push(...found.splice(0, pushes.length));
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
