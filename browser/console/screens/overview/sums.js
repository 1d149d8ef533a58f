/** The time windows of the overview, and the sums of the answers. Pure. */
import { localAt } from '../../../../src/protocol/time';
import { dayAfter, windowOf } from '../../read/range.js';

/** @typedef {import('../../read/range.js').Window} Window */
/** @typedef {import('../../read/shapes-stats').Stats} Stats */
/** @typedef {{ readonly now: Window, readonly isOpen: boolean, readonly before: Window, readonly days: number }} Windows */

const DAY = 86_400_000;
const HOUR = 3_600_000;
/** Up to this length bars are of hours. */
const LONGEST_OF_HOURS = 3 * DAY;

/** The length of its bars. @param {Window} window */
export const stepOf = ({ from, to }) => (ms(to) - ms(from) <= LONGEST_OF_HOURS ? 'hour' : 'day');

/** An instant there, as yyyy-MM-ddTHH:mm. @param {number} at epoch milliseconds @param {string} timeZone */
export const minuteAt = (at, timeZone) => localText(localAt(at, timeZone));

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

/** The steps of the statistics; the next finer step counts the two ends of a window. */
const STEPS = /** @type {const} */ ({
  day: { length: DAY, finer: 'hour' },
  hour: { length: HOUR, finer: 'minute' },
});

/** @typedef {{ from: string, to?: string, by: Stats['by'] }} Part */

/**
 * The queries for a window, exact to the minute: the statistics count whole steps, so its ends are queried in
 * shorter ones.
 *
 * @param {Window} window
 * @param {boolean} [isOpen] whether its last part ends now
 * @param {Stats['by']} [by]
 * @returns {Part[]}
 */
export function partsOf({ from, to }, isOpen = false, by = stepOf({ from, to })) {
  if (by === 'minute') return [isOpen ? { from, by } : { from, to, by }];
  const { length, finer } = STEPS[by];
  const begin = localText(Math.ceil(ms(from) / length) * length);
  const end = isOpen ? to : localText(Math.floor(ms(to) / length) * length);
  if (begin >= end) return partsOf({ from, to }, isOpen, finer);
  const before = from < begin ? partsOf({ from, to: begin }, false, finer) : [];
  const after = end < to ? partsOf({ from: end, to }, false, finer) : [];
  return [...before, isOpen ? { from: begin, by } : { from: begin, to: end, by }, ...after];
}

/** @param {number} local milliseconds, as if it were UTC */
const localText = (local) => new Date(local).toISOString().slice(0, 16);

/**
 * Joins the answers for the parts of a window. If a part is incomplete, the parts before it are omitted.
 *
 * @param {readonly Stats[]} parts at least one, in their order
 * @param {Stats['by']} by
 * @returns {Stats}
 */
export function joined(parts, by) {
  const whole = parts.slice(Math.max(0, parts.map(({ complete }) => complete).lastIndexOf(false)));
  const [first, last] = /** @type {[Stats, Stats]} */ ([whole[0], whole.at(-1)]);
  const sum = (/** @type {keyof Stats['total']} */ name) =>
    whole.reduce((all, { total }) => all + total[name], 0);
  return {
    ...{ from: first.from, to: last.to, by, timeZone: first.timeZone, complete: first.complete },
    total: { pushes: sum('pushes'), succeeded: sum('succeeded'), failed: sum('failed') },
    rows: whole.flatMap(({ rows }) => rows),
  };
}

/** A worker expires a lost push within this time after its deadline (workers/expire-lost.ts); milliseconds, rounded up. */
const EXPIRY = 70_000;

/** How long a push may wait, in whole minutes. @param {{ pushTimeout: number, batchTimeout: number }} limits milliseconds */
export const minutesOfWaiting = ({ pushTimeout, batchTimeout }) =>
  Math.ceil((Math.max(pushTimeout, batchTimeout) + EXPIRY) / 60_000);

/** Took effect, and changed nothing. */
const UNCHANGED = ['STALE_IGNORED', 'REPLAYED', 'ALREADY_DELETED'];

/** @typedef {{ start: number, written: number, unchanged: number, failed: number }} Bar `start`: local, as if it were UTC */

/** One bar for each hour or day of the window, also without pushes. @param {Stats} stats @returns {Bar[]} */
export function barsOf({ from, to, by, timeZone, rows }) {
  const step = by === 'day' ? DAY : HOUR;
  // Of the clock on the wall: by it all days are 24 hours long.
  const local = (/** @type {string} */ at) => localAt(Date.parse(at), timeZone);
  const begin = Math.floor(local(from) / step) * step;
  const length = Math.max(1, Math.ceil((local(to) - begin) / step));
  const bars = Array.from({ length }, (_, at) => ({
    ...{ start: begin + at * step, written: 0, unchanged: 0, failed: 0 },
  }));
  for (const { start, outcome, pushes } of rows) {
    const bar = bars[Math.floor((local(start) - begin) / step)];
    const kind =
      outcome === null ? 'failed' : UNCHANGED.includes(outcome) ? 'unchanged' : 'written';
    if (bar) bar[kind] += pushes;
  }
  return bars;
}

/** Steps of an axis that are easy to read, in each power of ten. */
const EASY = [1, 2, 5, 10];
/** Grid lines above the base line, at most. */
const MAX_LINES = 5;

/** The marks of the y-axis, from 0 to the first mark that no bar exceeds. @param {number} max of all bars @returns {number[]} */
export function axisOf(max) {
  const least = Math.max(1, max / MAX_LINES);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = (EASY.find((factor) => factor * power >= least) ?? 10) * power;
  return Array.from({ length: Math.ceil(Math.max(1, max) / step) + 1 }, (_, at) => at * step);
}

/**
 * The change against the time before, as a percentage, or as a difference if nothing was there before.
 *
 * @param {number} now @param {number} before
 * @returns {string} with its sign; empty without a change
 */
export function changeText(now, before) {
  if (now === before) return '';
  const change = before === 0 ? now : Math.round((100 * (now - before)) / before);
  const sign = now > before ? '+' : '−';
  return `${sign}${new Intl.NumberFormat('en').format(Math.abs(change))}${before === 0 ? '' : ' %'}`;
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
 * @param {{ bizType: string | null, count: number }[]} open the buckets of a digest without concluded matters
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
