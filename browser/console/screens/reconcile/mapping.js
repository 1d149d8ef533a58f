/** Which column of a file holds which field: as it was mapped before in this tab, else guessed by the rules of matterctl. */
import { guess, MATTER_COLUMNS } from '../../../../src/files/columns';

/** @typedef {import('../../../../src/files/columns').Mapping} Mapping */

export const FIELDS = Object.keys(MATTER_COLUMNS);

const STORED = 'matter-push.reconcile-columns';

/** Of files with the same head it is known how they were mapped before, in this tab. @param {readonly string[]} head @param {Mapping} mapping */
export function remember(head, mapping) {
  const all = { ...stored(), [headKey(head)]: mapping.map((field) => field ?? '') };
  try {
    sessionStorage.setItem(STORED, JSON.stringify(all));
  } catch {
    // A browser may forbid its store, or have no room in it: nothing is remembered.
  }
}

/** @param {readonly string[]} head @returns {Mapping} as it was remembered, else guessed */
export function mappingFor(head) {
  const known = stored()[headKey(head)];
  if (!Array.isArray(known) || known.length !== head.length) return guess(head);
  return known.map((field) => (FIELDS.includes(field) ? field : undefined));
}

/** Not the names themselves as a key: `__proto__` is one too. @param {readonly string[]} head */
const headKey = (head) => JSON.stringify(head);

/** @returns {Record<string, unknown>} */
function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(STORED) ?? '{}');
  } catch {
    // Somebody else's text: nothing is remembered.
    return {};
  }
}
