/** The queries of the overview. */
import { ask } from '../../read/ask.js';
import { subjectOf } from '../../read/failure-groups.js';
import { joined, minutesOfWaiting, partsOf, stepOf } from './sums.js';

/** @typedef {import('./sums.js').Windows} Windows */
/** @typedef {import('../../read/shapes-stats').Stats} Stats */
/** @typedef {import('../../read/setup-shapes').OwnSelf} OwnSelf */
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
  const statsOf = async (/** @type {import('./sums.js').Part[]} */ parts) =>
    joined(await inTurn(...parts.map((part) => () => ask('push-logs/stats', part, signal))), by);
  // Two queries at a time: the service limits them for each system, and other tabs send queries too.
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
    // No push of that time is in progress any more.
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

/** Matters of a page, before resolved ones are removed; and the number of pages that are read. */
const PAGE = 500;
const PAGES = 6;

/** @param {number} value @returns {Counted} */
const exactly = (value) => ({ value, exact: true });

/** How often the time window of waiting pushes is halved. */
const HALVINGS = 3;

/**
 * The service counts some thousand pushes exactly. If the window has more, each half of it is counted.
 *
 * @param {number} from epoch milliseconds
 * @param {number} length milliseconds
 * @param {AbortSignal} signal
 * @param {boolean} [isLast] whether the window ends now
 * @param {number} [halvings] remaining ones
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

/** The number of matters, as the screen of failures counts them. @param {object} window @param {AbortSignal} signal @returns {Promise<Counted>} */
async function stillFailedIn(window, signal) {
  const body = { ...window, stillFailed: true, limit: PAGE };
  const matters = new Set();
  let cursor = null;
  for (let pages = 0; pages < PAGES; pages += 1) {
    const question = { ...body, ...(cursor !== null && { cursor }) };
    /** @type {import('../../read/shapes').FailuresPage} */
    const page = await ask('push-logs/failures', question, signal);
    for (const row of page.rows) matters.add(subjectOf(row));
    cursor = page.nextCursor;
    if (cursor === null) return exactly(matters.size);
  }
  return { value: matters.size, exact: false };
}
