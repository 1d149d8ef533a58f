/** What the overview asks for. */
import { ask } from './ask.js';
import { subjectOf } from './failure-groups.js';
import { partsOf, stepOf } from './overview-sums.js';

/** @typedef {import('./overview-sums.js').Windows} Windows */
/** @typedef {import('./shapes-stats').Stats} Stats */
/** @typedef {{ readonly value: number, readonly exact: boolean }} Counted */

/**
 * @param {Windows} windows
 * @param {AbortSignal} signal
 */
export async function askOverview({ now, isOpen, before }, signal) {
  const current = isOpen ? { from: now.from } : now;
  const by = stepOf(now);
  // In two strands: the service answers few questions of a system at a time, and other tabs ask too.
  const [[stats, stillFailed, waiting], [earlier, failedBefore, waitingBefore]] = await Promise.all(
    [
      inTurn(
        () => ask('push-logs/stats', { ...current, by }, signal),
        () => stillFailedIn(current, signal),
        () => count({ ...current, ...WAITING }, signal),
      ),
      inTurn(
        () => inTurn(...partsOf(before).map((part) => () => ask('push-logs/stats', part, signal))),
        () => stillFailedIn(before, signal),
        () => count({ ...before, ...WAITING }, signal),
      ),
    ],
  );
  const sum = (/** @type {'pushes' | 'succeeded'} */ name) =>
    exactly(earlier.reduce((all, { total }) => all + total[name], 0));
  return {
    stats: /** @type {Stats} */ (stats),
    now: {
      received: exactly(stats.total.pushes),
      written: exactly(stats.total.succeeded),
      stillFailed,
      waiting,
    },
    before: {
      received: sum('pushes'),
      written: sum('succeeded'),
      stillFailed: failedBefore,
      waiting: waitingBefore,
    },
  };
}

/**
 * One after the other.
 *
 * @template {(() => Promise<any>)[]} T
 * @param {T} questions
 * @returns {Promise<{ [K in keyof T]: Awaited<ReturnType<T[K]>> }>}
 */
async function inTurn(...questions) {
  const answers = [];
  for (const question of questions) answers.push(await question());
  return /** @type {any} */ (answers);
}

const WAITING = { state: 'QUEUED' };
/** Matters of a page, of which those that are mended are left out after it was read; and pages that are read. */
const PAGE = 500;
const PAGES = 6;

/** @param {number} value @returns {Counted} */
const exactly = (value) => ({ value, exact: true });

/** @param {object} filter @param {AbortSignal} signal @returns {Promise<Counted>} */
const count = async (filter, signal) =>
  (await ask('push-logs/query', { ...filter, limit: 1, count: true }, signal)).count;

/** Of matters, as the failures have them. @param {object} window @param {AbortSignal} signal @returns {Promise<Counted>} */
async function stillFailedIn(window, signal) {
  const body = { ...window, stillFailed: true, limit: PAGE };
  const matters = new Set();
  let cursor = null;
  for (let pages = 0; pages < PAGES; pages += 1) {
    const question = { ...body, ...(cursor !== null && { cursor }) };
    /** @type {import('./shapes').FailuresPage} */
    const page = await ask('push-logs/failures', question, signal);
    for (const row of page.rows) matters.add(subjectOf(row));
    cursor = page.nextCursor;
    if (cursor === null) return exactly(matters.size);
  }
  return { value: matters.size, exact: false };
}
