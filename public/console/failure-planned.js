/** What of one failed matter is sent again, and as what. Pure. */
import { isAuthenticated } from './authenticated.js';
import { OPERATIONS } from './bodies.js';
import { fieldOf, setField } from './set-field.js';

/** @typedef {import('./shapes').Entry} Entry */
/** @typedef {import('./set-field.js').Change} Change */
/** @typedef {import('./failure-lines.js').Push} Push */
/** @typedef {'send' | 'mended' | 'bodyless' | 'unsendable' | 'rejected'} PlanState */
/** @typedef {{ readonly field: string, readonly change: Change }} Setting */
/** @typedef {ReadonlyMap<string, readonly string[]>} Places where something is wrong, by the name of a push */
/** @typedef {{ readonly name: string, readonly state: PlanState, readonly pushes: readonly Push[], readonly why?: string, readonly places?: Places }} PlannedMatter */

/** @param {Pick<Push, 'operation' | 'key'>} push */
export const nameOf = ({ operation, key }) => `${operation} ${key}`;

/**
 * @param {string} name
 * @param {readonly Entry[]} entries all of its pushes that nothing mended, the oldest first
 * @param {readonly Setting[]} [settings] values for fields, set where these were wrong and nowhere else
 * @param {Places} [found] what an earlier plan found wrong besides
 * @returns {PlannedMatter}
 */
export function plannedOf(name, entries, settings = [], found = new Map()) {
  if (entries.length === 0) return { name, state: 'mended', pushes: [] };
  if (!entries.every(isKept)) return { name, state: 'bodyless', pushes: [] };
  const isSendable = (/** @type {Entry} */ { operation, body }) =>
    OPERATIONS.includes(operation) && isObject(String(body));
  const last = withoutRepeats(entries);
  if (!last.every(isSendable)) return { name, state: 'unsendable', pushes: [] };
  return { name, state: 'send', pushes: last.map((entry) => pushOf(entry, settings, found)) };
}

/** @param {Entry} entry */
const isKept = (entry) => typeof entry.body === 'string' && isAuthenticated(entry);

/** A push that was tried more than once is sent once, where its last try was. @param {readonly Entry[]} entries */
function withoutRepeats(entries) {
  const seen = new Set();
  const kept = [];
  for (const entry of [...entries].reverse()) {
    const { operation, idempotencyKey, bodyHash } = entry;
    const names = [JSON.stringify([operation, null, bodyHash])];
    if (idempotencyKey !== null) names.push(JSON.stringify([operation, idempotencyKey]));
    if (!names.some((it) => seen.has(it))) kept.unshift(entry);
    for (const it of names) seen.add(it);
  }
  return kept;
}

/** @param {string} body */
function isObject(body) {
  try {
    const value = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** @param {Entry} entry @param {readonly Setting[]} settings @param {Places} found @returns {Push} */
function pushOf({ requestId, operation, idempotencyKey, body, problems }, settings, found) {
  const key = idempotencyKey ?? `console/${requestId}`;
  const places = new Set([
    ...problems.map(({ field }) => field),
    ...(found.get(nameOf({ operation, key })) ?? []),
  ]);
  let text = String(body);
  for (const { field, change } of settings) {
    // From the last place to the first one: what is taken out of a list moves what is behind it.
    const own = [...places].filter((place) => fieldOf(place) === field).reverse();
    for (const place of own) text = setField(text, place, change);
  }
  return { operation, body: text, key };
}
