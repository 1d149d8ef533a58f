/** The windows that the overview asks for, and the sums of what comes back. Pure. */
import { localAt } from './instants.js';
import { dayAfter, windowOf } from './range.js';

/** @typedef {import('./range.js').Window} Window */
/** @typedef {import('./shapes-stats').Stats} Stats */
/** @typedef {{ readonly now: Window, readonly isOpen: boolean, readonly before: Window, readonly days: number }} Windows */

const DAY = 86_400_000;
const HOUR = 3_600_000;
/** Up to this length bars are of hours. */
const LONGEST_OF_HOURS = 3 * DAY;

/** The length of its bars. @param {Window} window */
export const stepOf = ({ from, to }) => (ms(to) - ms(from) <= LONGEST_OF_HOURS ? 'hour' : 'day');

/** An instant there, as yyyy-MM-ddTHH:mm. @param {number} at epoch milliseconds @param {string} timeZone */
export const minuteAt = (at, timeZone) =>
  new Date(localAt(at, timeZone)).toISOString().slice(0, 16);

/** @param {string} local */
const ms = (local) => Date.parse(`${local}Z`);

/** @param {string} local @param {number} days */
const shifted = (local, days) => dayAfter(local.slice(0, 10), days) + local.slice(10);

/**
 * The window that is looked at, closed on both ends, and the one before it: as long, and as many whole days
 * earlier as make it end before this one begins, so that hours are compared with the same hours.
 *
 * @param {Readonly<Record<string, string>>} params of the address
 * @param {string} timeZone of the portal
 * @param {number} at epoch milliseconds
 * @returns {Windows}
 */
export function windowsOf(params, timeZone, at) {
  const asked = windowOf(params, timeZone, at);
  const current = minuteAt(at, timeZone);
  const isOpen = asked.to === '' || asked.to > current;
  const to = isOpen ? current : asked.to;
  const from = asked.from || shifted(to, -1);
  const days = Math.max(1, Math.ceil((ms(to) - ms(from)) / DAY));
  return {
    now: { from, to },
    isOpen,
    before: { from: shifted(from, -days), to: shifted(to, -days) },
    days,
  };
}

/**
 * The questions about a window in the past, to the minute: the statistics count whole hours.
 *
 * @param {Window} window
 * @returns {{ from: string, to: string, by: string }[]}
 */
export function partsOf({ from, to }) {
  const hour = `${to.slice(0, 13)}:00`;
  const by = ms(to) - ms(from) > 30 * DAY ? 'day' : 'hour';
  const whole = from < hour ? [{ from, to: hour, by }] : [];
  const rest = hour < to ? [{ from: from < hour ? hour : from, to, by: 'minute' }] : [];
  return [...whole, ...rest];
}

/** Took effect, and changed nothing. */
const UNCHANGED = ['STALE_IGNORED', 'REPLAYED', 'ALREADY_DELETED'];

/** @typedef {{ start: number, written: number, unchanged: number, failed: number }} Bar */

/** One for each hour or day of the window, also where nothing came. @param {Stats} stats @returns {Bar[]} */
export function barsOf({ from, to, by, rows }) {
  const step = by === 'day' ? DAY : HOUR;
  const begin = Date.parse(from);
  // Days are not always 24 hours long.
  const length = Math.max(1, Math.round((Date.parse(to) - begin) / step));
  const bars = Array.from({ length }, (_, at) => ({
    ...{ start: begin + at * step, written: 0, unchanged: 0, failed: 0 },
  }));
  for (const { start, outcome, pushes } of rows) {
    const bar = bars[Math.round((Date.parse(start) - begin) / step)];
    const kind =
      outcome === null ? 'failed' : UNCHANGED.includes(outcome) ? 'unchanged' : 'written';
    if (bar) bar[kind] += pushes;
  }
  return bars;
}

/** The most frequent first. @param {Stats} stats @returns {[reason: string, pushes: number][]} */
export function reasonsOf({ rows }) {
  const sums = new Map(/** @type {[string, number][]} */ ([]));
  for (const { reason, pushes } of rows) {
    if (reason !== null) sums.set(reason, (sums.get(reason) ?? 0) + pushes);
  }
  return [...sums].sort(([, a], [, b]) => b - a);
}

/** @typedef {{ type: string | null, all: number, open: number }} LedgerRow */

/**
 * @param {{ bizType: string | null, count: number }[]} all buckets of a digest
 * @param {{ bizType: string | null, count: number }[]} open those of one without what is concluded
 * @returns {LedgerRow[]} the largest first
 */
export function ledgerOf(all, open) {
  const rows = new Map(/** @type {[string | null, LedgerRow][]} */ ([]));
  const add = (/** @type {typeof all} */ buckets, /** @type {'all' | 'open'} */ name) => {
    for (const { bizType, count: matters } of buckets) {
      const row = rows.get(bizType) ?? { type: bizType, all: 0, open: 0 };
      row[name] += matters;
      rows.set(bizType, row);
    }
  };
  add(all, 'all');
  add(open, 'open');
  return [...rows.values()].sort((a, b) => b.all - a.all);
}
