/** Title and invalid value of failed pushes, from their stored bodies. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask } from '../../read/ask.js';
import { causeOf } from '../../read/failure-groups.js';
import { seesBodies } from '../../read/self.js';
import { fieldOf, valueAt } from '../../send/set-field.js';

/** @typedef {import('../../read/shapes').Entry} Entry */
/** @typedef {import('../../read/shapes').FailedRow} FailedRow */
/** @typedef {import('../../send/resend.js').Scalar} Scalar */
/** @typedef {{ readonly title?: string | undefined, readonly value?: string | undefined, readonly scalars?: readonly Scalar[] }} Detail `value`: the invalid values as one text */
/** @typedef {ReadonlyMap<string, Detail>} Details by request id */
/** @typedef {{ readonly question: string, readonly bodies: ReadonlyMap<string, string>, readonly error?: unknown }} Loaded */

/** The maximum of a page with bodies. */
const PAGE = 50;
/** The newest 500 failures of a group have details. */
const MAX_PAGES = 10;

/** @type {ReadonlyMap<string, string>} */
const NO_BODIES = new Map();

/**
 * @param {readonly FailedRow[]} rows @param {string} field of the group
 * @param {Record<string, unknown>} filter of push-logs/query
 * @returns {{ details: Details, error?: unknown }}
 */
export function useDetails(rows, field, filter) {
  // A key without access to bodies gets none.
  const isAsked = seesBodies();
  const question = JSON.stringify([isAsked, filter]);
  const [loaded, setLoaded] = useState(/** @type {Loaded} */ ({ question, bodies: NO_BODIES }));
  useEffect(() => {
    const stop = new AbortController();
    const load = async () => {
      const bodies = /** @type {Map<string, string>} */ (new Map());
      for await (const { requestId, body } of entriesOf(filter, stop.signal)) {
        if (typeof body === 'string') bodies.set(requestId, body);
      }
      setLoaded({ question, bodies });
    };
    if (!isAsked) return undefined;
    load().catch((error) => {
      if (!stop.signal.aborted) setLoaded({ question, bodies: NO_BODIES, error });
    });
    return () => stop.abort();
  }, [question]);
  const bodies = loaded.question === question ? loaded.bodies : NO_BODIES;
  const details = useMemo(() => {
    const all = rows.flatMap((row) => {
      const cause = causeOf(row);
      const body = bodies.get(cause.requestId);
      return body === undefined ? [] : [[cause.requestId, detailOf(cause, field, body)]];
    });
    return new Map(/** @type {[string, Detail][]} */ (all));
  }, [bodies, rows.map(({ requestId }) => requestId).join(), field]);
  return { details, error: loaded.error };
}

/** @param {Record<string, unknown>} filter @param {AbortSignal} signal @returns {AsyncGenerator<Entry>} */
async function* entriesOf(filter, signal) {
  let cursor = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const body = { ...filter, includeBody: true, limit: PAGE, ...(cursor && { cursor }) };
    const { entries, nextCursor } = await ask('push-logs/query', body, signal);
    yield* entries;
    if (nextCursor === null) return;
    cursor = nextCursor;
  }
}

/** @param {Pick<FailedRow, 'problems'>} row @param {string} field @param {string} body @returns {Detail} */
export function detailOf({ problems = [] }, field, body) {
  const object = objectIn(body);
  if (object === undefined) return {};
  const { title } = object;
  const places = problems.map((problem) => problem.field).filter((it) => fieldOf(it) === field);
  const values = places.flatMap((place) => valueAt(body, place) ?? []);
  return {
    title: typeof title === 'string' && title.trim() !== '' ? title : undefined,
    value: values.length > 0 ? values.map(textOf).join(', ') : undefined,
    scalars: values.map((json) => JSON.parse(json)).filter(isScalar),
  };
}

/** @param {string} body @returns {Record<string, unknown> | undefined} */
function objectIn(body) {
  try {
    const value = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @param {unknown} value */
const isScalar = (value) => ['string', 'number', 'boolean'].includes(typeof value);

/** The different invalid values of some matters. @param {readonly FailedRow[]} rows @param {Details} details @returns {Scalar[]} */
export const scalarsIn = (rows, details) => [
  ...new Set(rows.flatMap((row) => details.get(causeOf(row).requestId)?.scalars ?? [])),
];

/** @param {string} json */
function textOf(json) {
  const value = JSON.parse(json);
  return typeof value === 'string' && value.trim() !== '' ? value : json;
}

/** The values of a group, the most frequent first. @param {Details} details @returns {[value: string, count: number][]} */
export function valuesIn(details) {
  const counts = /** @type {Map<string, number>} */ (new Map());
  for (const { value } of details.values()) {
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}
