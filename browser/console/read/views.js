/** The saved views of the pushes, and the query of each. Pure. */
import { windowBody, windowOf } from './range.js';
import { REASONS } from './reasons.js';

/** @typedef {import('../kit/route.js').Params} Params */

/** The service rejected these before it knew the sender. */
const SIGNATURES = [
  'SIGNATURE_MISMATCH',
  'TIMESTAMP_OUT_OF_WINDOW',
  'SIGNATURE_REUSED',
  'NO_USABLE_SECRET',
];

/** @type {Readonly<Record<string, Readonly<Record<string, unknown>>>>} */
export const VIEWS = {
  all: {},
  failed: { failed: true },
  still: { stillFailed: true },
  late: { reason: 'CONFIRMATION_TIMEOUT' },
  stale: { outcome: 'STALE_IGNORED' },
  replayed: { state: 'REPLAYED' },
  refused: { reason: SIGNATURES },
};

export const isRequestId = (/** @type {string} */ text) => /^[0-9a-f]{24}$/i.test(text);

/** The reasons that a view can be filtered by. @param {string} view @returns {readonly string[]} */
export function reasonsIn(view) {
  const { reason, outcome, state } = VIEWS[view] ?? {};
  if (outcome !== undefined || state !== undefined) return [];
  return reason === undefined ? Object.keys(REASONS) : [reason].flat().map(String);
}

/**
 * The queries for the search box and the filters. A search needs several, because its text may be one of several ids.
 * A search covers the whole log, in any time range.
 *
 * @param {Params} params
 * @param {string} timeZone
 * @param {number} now epoch milliseconds
 * @returns {Record<string, unknown>[]}
 */
export function questionsOf(params, timeZone, now) {
  const { q = '', view = 'all', operation = '', reason = '' } = params;
  const searched = q.trim();
  const filter = {
    ...VIEWS[view],
    ...(operation && { operation }),
    ...(reasonsIn(view).includes(reason) && { reason }),
  };
  if (searched === '') return [{ ...filter, ...windowBody(windowOf(params, timeZone, now)) }];
  // The service takes ids of up to 128 characters, and keys of up to 255.
  return [
    // The id of a matter, or a key, can look like a request id.
    ...(isRequestId(searched) ? [{ ...filter, requestId: searched }] : []),
    ...(searched.length <= 128 ? [{ ...filter, externalId: searched }] : []),
    { ...filter, idempotencyKey: searched.slice(0, 255) },
  ];
}
