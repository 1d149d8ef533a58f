/** Finds the open failures of selected matters. */
import { ask } from '../read/ask.js';
import { subjectOf } from '../read/failure-groups.js';
import { OWN_REASONS } from '../read/reasons.js';

/** @typedef {import('../read/shapes').Entry} Entry */
/** @typedef {import('../read/shapes').FailedRow} FailedRow */
/** @typedef {Map<string, Entry[]>} Found the failures by matter, the oldest first */
/** @typedef {{ signal: AbortSignal, report: (found: number) => void }} Reading */

const PAGE = 500;
/** Up to this number, each matter has a query of its own. */
const FEW = 20;
/** Failures with a wrong signature are left out: a stranger can cause them. */
const OPEN = { stillFailed: true, reason: OWN_REASONS, oldestFirst: true, limit: PAGE };

/**
 * Finds them at any time, because the failures outside of the shown range belong to the order of the matter too. For
 * many matters it reads all open failures of the system, if that takes fewer queries than the matters one by one.
 *
 * @param {readonly FailedRow[]} rows one per matter @param {Reading} how
 * @returns {Promise<Found>}
 */
export async function openFailuresOf(rows, how) {
  const all = rows.length > FEW && (await amongAll(rows, how));
  return all || oneByOne(rows, how);
}

/** @param {readonly FailedRow[]} rows @param {Reading} how @returns {Promise<Found | undefined>} undefined: too many queries */
async function amongAll(rows, how) {
  const found = noneOf(rows);
  let pages = 0;
  for await (const entries of pagesOf({}, how.signal)) {
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
    for await (const entries of pagesOf(filterOf(row), how.signal)) put(found, entries, how);
  }
  return found;
}

/** @param {FailedRow} row */
function filterOf({ externalId, idempotencyKey, operation, requestId }) {
  if (externalId !== null) return { externalId };
  return idempotencyKey === null ? { requestId } : { idempotencyKey, operation };
}

/** @param {readonly FailedRow[]} rows @returns {Found} */
const noneOf = (rows) => new Map(rows.map((row) => [subjectOf(row), []]));

/** @param {Found} found @param {readonly Entry[]} entries @param {Reading} how */
function put(found, entries, { report }) {
  for (const entry of entries) found.get(subjectOf(entry))?.push(entry);
  report([...found.values()].reduce((sum, own) => sum + own.length, 0));
}

/** @param {Record<string, unknown>} filter @param {AbortSignal} signal @returns {AsyncGenerator<readonly Entry[]>} */
async function* pagesOf(filter, signal) {
  let cursor = null;
  do {
    const body = { ...OPEN, ...filter, ...(cursor && { cursor }) };
    const { entries, nextCursor } = await ask('push-logs/query', body, signal);
    yield entries;
    cursor = nextCursor;
  } while (cursor !== null);
}
