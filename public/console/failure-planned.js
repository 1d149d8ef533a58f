/** What of one failed matter is sent again, and as what. Pure. */
import { isAuthenticated } from './authenticated.js';
import { OPERATIONS } from './bodies.js';
import { nameOf } from './failure-lines.js';
import { isConsoleKey, isForeign, isUnnamed, keyOf } from './mend-guard.js';
import { fieldOf, setField } from './set-field.js';

/** @typedef {import('./shapes').Entry} Entry */
/** @typedef {import('./set-field.js').Change} Change */
/** @typedef {import('./failure-lines.js').Push} Push */
/** @typedef {import('./failure-send.js').Result} Result */
/** @typedef {'send' | 'mended' | 'changed' | 'parted' | 'foreign' | 'bodyless' | 'unsendable' | 'many' | 'rejected'} PlanState */
/** @typedef {{ readonly field: string, readonly change: Change }} Setting */
/** @typedef {ReadonlyMap<string, readonly string[]>} Places where something is wrong, by the name of a push */
/**
 * @typedef {object} PlannedMatter
 * @property {string} name
 * @property {string | null} externalId null: its pushes name no matter
 * @property {PlanState} state
 * @property {readonly Push[]} pushes of the plan, the oldest first
 * @property {readonly string[]} looked request ids of all its pushes that the plan looked at, the oldest first
 * @property {number} [next] place of the first push that is still to be sent: those before it came to their end
 * @property {boolean} [sent] whether this plan sent some of it, and what became of that is not known, or not the end
 * @property {boolean} [begun] whether some of it was written by that, or may have been
 * @property {Result} [failed] what a push of it was rejected with that this plan sent
 * @property {Result} [result] of a matter that was sent to its end
 * @property {string} [why]
 * @property {Places} [places]
 */

/** Of one matter in a plan. */
export const MOST_PUSHES = 1_000;

/**
 * @param {string} name
 * @param {readonly Entry[]} entries all of its pushes that nothing mended, the oldest first
 * @param {{ clientId: string, secretId?: string | undefined, settings?: readonly Setting[], found?: Places }} how
 *   `clientId`: who would send them; `secretId`: with what, and what was mended before; `settings`: values for fields, set where these were wrong and nowhere else; `found`: what an earlier plan found
 *   wrong besides
 * @returns {PlannedMatter}
 */
export function plannedOf(name, entries, { clientId, secretId, settings = [], found = new Map() }) {
  const looked = entries.map(({ requestId }) => requestId);
  const about = { name, externalId: entries[0]?.externalId ?? null, looked };
  const none = (/** @type {PlanState} */ state) => ({ ...about, state, pushes: [] });
  if (entries.length === 0) return none('mended');
  if (entries.length > MOST_PUSHES) return none('many');
  // What was rejected for its signature or client is never sent from here, and holds nothing else up.
  const own = entries.filter(isAuthenticated);
  if (own.length === 0 || own.some(({ body }) => typeof body !== 'string')) return none('bodyless');
  if (own.some((entry) => isForeign(entry, clientId))) return none('foreign');
  const last = withoutRepeats(own, secretId);
  if (!last.every(isSendable)) return none('unsendable');
  const pushes = last.map((entry) => pushOf(entry, settings, found));
  return { ...about, state: 'send', pushes };
}

/**
 * The id that the service assigned to a notice is made of its key and its bytes, which a line cannot always keep.
 *
 * @param {Entry} entry
 */
const isSendable = ({ operation, body, externalId, idempotencyKey }) =>
  OPERATIONS.includes(operation) &&
  isObject(String(body)) &&
  !(isUnnamed(externalId) && idempotencyKey !== null && /[\r\n]/.test(String(body)));

/**
 * A push that was tried more than once is sent once. Under its key it is where it was tried first, as it was mended
 * last: a late retry must not undo what came after it. Where it came anew it is where it was last.
 *
 * @param {readonly Entry[]} entries @param {string} [secretId]
 */
function withoutRepeats(entries, secretId) {
  /** @type {Map<string, { first: Entry, last: Entry, seen: Set<string> }>} */
  const byName = new Map();
  const ids = new Set(entries.map(({ requestId }) => requestId));
  for (const entry of entries) {
    // An operator's resend is its first push once more, without the key.
    if (entry.resentFrom !== null && ids.has(entry.resentFrom)) continue;
    const name = pushNameOf(entry);
    const { first = entry, last = entry, seen = new Set() } = byName.get(name) ?? {};
    const isSeen = seen.has(entry.bodyHash);
    seen.add(entry.bodyHash);
    if (isSeen && entry.bodyHash !== last.bodyHash) continue;
    const isMended =
      first.idempotencyKey === null || (entry.secretId === secretId && first.secretId !== secretId);
    // Under the same key another body is another push. What is set again stays in its place.
    if (!isSeen && !isMended) byName.delete(name);
    byName.set(name, { first, last: entry, seen });
  }
  const kept = [...byName.values()].map(({ last }) => last);
  const lastWith = new Map(kept.map((entry) => [bytesOf(entry), entry]));
  return kept.filter((entry) => lastWith.get(bytesOf(entry)) === entry);
}

/** A key belongs to its client; one of the console names the push. @param {Entry} entry */
function pushNameOf(entry) {
  const key = keyOf(entry);
  return JSON.stringify([isConsoleKey(key) ? null : entry.clientId, entry.operation, key]);
}

/** @param {Entry} entry */
const bytesOf = ({ operation, bodyHash }) => `${operation} ${bodyHash}`;

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
function pushOf(entry, settings, found) {
  const { operation, body, bodyHash, problems } = entry;
  const key = keyOf(entry);
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
  return { operation, body: text, key, cameAs: bodyHash };
}
