/** What the overview asks for. */
import { ask } from './ask.js';
import { subjectOf } from './failure-groups.js';
import { joined, minutesOfWaiting, partsOf, stepOf } from './overview-sums.js';

/** @typedef {import('./overview-sums.js').Windows} Windows */
/** @typedef {import('./shapes-stats').Stats} Stats */
/** @typedef {import('./setup-shapes').OwnSelf} OwnSelf */
/** @typedef {{ readonly value: number, readonly exact: boolean }} Counted */

const MINUTE = 60_000;

/**
 * @param {Windows} windows
 * @param {Pick<OwnSelf, 'serviceTime' | 'limits'>} me
 * @param {AbortSignal} signal
 */
export async function askOverview({ now, isOpen, before }, { serviceTime, limits }, signal) {
  const current = isOpen ? { from: now.from } : now;
  const by = stepOf(now);
  const minutes = minutesOfWaiting(limits);
  const statsOf = async (/** @type {import('./overview-sums.js').Part[]} */ parts) =>
    joined(await inTurn(...parts.map((part) => () => ask('push-logs/stats', part, signal))), by);
  // In two strands: the service answers few questions of a system at a time, and other tabs ask too.
  const [[stats, stillFailed, waiting], [earlier, failedBefore]] = await Promise.all([
    inTurn(
      () => statsOf(partsOf(now, isOpen)),
      () => stillFailedIn(current, signal),
      () => waitingSince(Date.parse(serviceTime) - minutes * MINUTE, minutes * MINUTE, signal),
    ),
    inTurn(
      () => statsOf(partsOf(before)),
      () => stillFailedIn(before, signal),
    ),
  ]);
  return {
    stats,
    minutes,
    now: { ...sumsOf(stats), stillFailed, waiting },
    // Nothing of that time waits any more.
    before: { ...sumsOf(earlier), stillFailed: failedBefore, waiting: undefined },
  };
}

/** @param {Stats} stats @returns {Record<'received' | 'written', Counted>} */
const sumsOf = ({ total: { pushes, succeeded }, complete: exact }) => ({
  received: { value: pushes, exact },
  written: { value: succeeded, exact },
});

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

/** Matters of a page, of which those that are mended are left out after it was read; and pages that are read. */
const PAGE = 500;
const PAGES = 6;

/** @param {number} value @returns {Counted} */
const exactly = (value) => ({ value, exact: true });

/** How often the time is halved in which pushes may wait. */
const HALVINGS = 3;

/**
 * The service counts among some thousand pushes: where more came, each half of the time is asked for.
 *
 * @param {number} from epoch milliseconds
 * @param {number} length milliseconds
 * @param {AbortSignal} signal
 * @param {boolean} [isLast] whether it goes on up to now
 * @param {number} [halvings] that are left
 * @returns {Promise<Counted>}
 */
async function waitingSince(from, length, signal, isLast = true, halvings = HALVINGS) {
  const window = { from, ...(!isLast && { to: from + length }) };
  const question = { ...window, state: 'QUEUED', limit: 1, count: true };
  const { count } = await ask('push-logs/query', question, signal);
  if (count.exact || halvings === 0) return count;
  const half = length / 2;
  const [first, second] = await inTurn(
    () => waitingSince(from, half, signal, false, halvings - 1),
    () => waitingSince(from + half, half, signal, isLast, halvings - 1),
  );
  return { value: first.value + second.value, exact: first.exact && second.exact };
}

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
