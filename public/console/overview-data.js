/** What the overview asks for. */
import { ask } from './ask.js';
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
  const [stats, stillFailed, waiting, earlier, failedBefore, waitingBefore] = await Promise.all([
    ask('push-logs/stats', { ...current, by }, signal),
    stillFailedIn(current, signal),
    count({ ...current, ...WAITING }, signal),
    Promise.all(partsOf(before).map((part) => ask('push-logs/stats', part, signal))),
    stillFailedIn(before, signal),
    count({ ...before, ...WAITING }, signal),
  ]);
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

const WAITING = { state: 'QUEUED' };

/** @param {number} value @returns {Counted} */
const exactly = (value) => ({ value, exact: true });

/** @param {object} filter @param {AbortSignal} signal @returns {Promise<Counted>} */
const count = async (filter, signal) =>
  (await ask('push-logs/query', { ...filter, limit: 1, count: true }, signal)).count;

/** Of matters, as the failures have them. @param {object} window @param {AbortSignal} signal @returns {Promise<Counted>} */
async function stillFailedIn(window, signal) {
  const body = { ...window, stillFailed: true, limit: 500 };
  const { rows, complete } = await ask('push-logs/failures', body, signal);
  return { value: rows.length, exact: complete };
}
