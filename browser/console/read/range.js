/** The time ranges that a user can choose, in the time zone of the portal. Pure. */
import { localAt } from '../../../src/protocol/time';

/** @typedef {{ readonly from: string, readonly to: string }} Window local date-times, as the service reads them; empty: open */

export const RANGES = ['today', 'yesterday', 'week', 'custom'];

/** The date of an instant there, as yyyy-MM-dd. @param {number} at epoch milliseconds @param {string} timeZone */
export const dateAt = (at, timeZone) => new Date(localAt(at, timeZone)).toISOString().slice(0, 10);

/** @param {string} date yyyy-MM-dd @param {number} days */
export function dayAfter(date, days) {
  const noon = Date.parse(`${date}T12:00:00Z`);
  return new Date(noon + days * 86_400_000).toISOString().slice(0, 10);
}

/**
 * @param {Readonly<Record<string, string>>} params `range`, and for a custom one `from` and `to`
 * @param {string} timeZone of the portal
 * @param {number} now epoch milliseconds
 * @returns {Window}
 */
export function windowOf({ range = 'today', from = '', to = '' }, timeZone, now) {
  const today = dateAt(now, timeZone);
  const midnight = (/** @type {string} */ date) => `${date}T00:00`;
  if (range === 'yesterday') return { from: midnight(dayAfter(today, -1)), to: midnight(today) };
  if (range === 'week') return { from: midnight(dayAfter(today, -6)), to: '' };
  if (range === 'custom') return { from: local(from), to: local(to) };
  return { from: midnight(today), to: '' };
}

/** A time in the form of the input of a browser; any other text becomes empty. @param {string} text */
const local = (text) => (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/.test(text) ? text : '');

/** The fields for the body of a query, without open ends. @param {Window} window */
export const windowBody = ({ from, to }) => ({ ...(from && { from }), ...(to && { to }) });
