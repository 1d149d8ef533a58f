/** The pushes of some failed matters that nothing mended until now, whenever they were received. */
import { ask } from './ask.js';
import { subjectOf } from './failure-groups.js';
import { MOST_PUSHES } from './failure-planned.js';
import { OWN_REASONS } from './reasons.js';

/** @typedef {import('./shapes').Entry} Entry */
/** @typedef {import('./shapes').FailedRow} FailedRow */
/** @typedef {Map<string, Entry[]>} Found by the names of the matters, the oldest first */
/** @typedef {{ page: Record<string, unknown>, signal: AbortSignal, report?: (done: number) => void }} Reading */

/** The most that the service gives with bodies, and without. */
export const WITH_BODIES = { includeBody: true, limit: 50 };
export const WITHOUT = { limit: 500 };
/** Matters that are looked up one by one. */
const FEW = 20;
const STILL_FAILED = { stillFailed: true, reason: OWN_REASONS };

/**
 * Of more than a few matters all that still failed is read, as long as that takes fewer questions than they would
 * one by one. The range that is shown does not count: a push outside of it comes before or after the others all the
 * same. Nothing whose signature was wrong is among them: somebody else may have written it.
 *
 * @param {readonly FailedRow[]} rows @param {Reading} how
 * @returns {Promise<Found>} of a matter that has more than the most of a plan, one more than those
 */
export async function failedPushesOf(rows, how) {
  const all = rows.length > FEW && (await amongAll(rows, how));
  return all || oneByOne(rows, how);
}

/** @param {readonly FailedRow[]} rows @param {Reading} how @returns {Promise<Found | undefined>} undefined: there are too many */
async function amongAll(rows, how) {
  const found = noneOf(rows);
  let pages = 0;
  for await (const entries of pagesOf(STILL_FAILED, how)) {
    if (pages === rows.length) return undefined;
    pages += 1;
    put(found, entries, how);
  }
  return found;
}

/** @param {readonly FailedRow[]} rows @param {Reading} how @returns {Promise<Found>} */
async function oneByOne(rows, how) {
  const found = noneOf(rows);
  for (const row of rows) {
    for await (const entries of pagesOf({ ...STILL_FAILED, ...questionOf(row) }, how)) {
      put(found, entries, how);
      if (isFull(found.get(subjectOf(row)))) break;
    }
  }
  return found;
}

/** @param {FailedRow} row */
function questionOf({ externalId, idempotencyKey, operation, requestId }) {
  if (externalId !== null) return { externalId };
  return idempotencyKey === null ? { requestId } : { idempotencyKey, operation };
}

/** @param {readonly FailedRow[]} rows @returns {Found} */
const noneOf = (rows) => new Map(rows.map((row) => [subjectOf(row), []]));

/** @param {readonly Entry[] | undefined} own */
const isFull = (own) => own !== undefined && own.length > MOST_PUSHES;

/** @param {Found} found @param {readonly Entry[]} entries @param {Reading} how */
function put(found, entries, { report }) {
  for (const entry of entries) {
    const own = found.get(subjectOf(entry));
    if (!isFull(own)) own?.push(entry);
  }
  report?.([...found.values()].reduce((sum, own) => sum + own.length, 0));
}

/**
 * All that the log has since, the oldest first: of a matter, else of a key.
 *
 * @param {{ externalId: string } | { idempotencyKey: string, operation: string }} name
 * @param {string} requestId of the push after which it begins
 * @param {AbortSignal} signal
 */
export async function* pushesSince(name, requestId, signal) {
  const from = new Date(receivedAtOf(requestId)).toISOString();
  for await (const entries of pagesOf({ ...name, from }, { page: WITHOUT, signal }))
    yield* entries.filter((entry) => entry.requestId > requestId);
}

/** Seconds, then milliseconds, are the first digits of the id. @param {string} requestId */
const receivedAtOf = (requestId) =>
  Number.parseInt(requestId.slice(0, 8), 16) * 1_000 + Number.parseInt(requestId.slice(8, 12), 16);

/** @param {Record<string, unknown>} question @param {Reading} how @returns {AsyncGenerator<readonly Entry[]>} */
async function* pagesOf(question, { page, signal }) {
  let cursor = null;
  do {
    const body = { ...question, ...page, oldestFirst: true, ...(cursor && { cursor }) };
    const { entries, nextCursor } = await ask('push-logs/query', body, signal);
    yield entries;
    cursor = nextCursor;
  } while (cursor !== null);
}
