/** Which column of a file holds which field: as it was mapped before in this tab, else guessed by the rules of matterctl. */
import { guessMapping, MATTER_COLUMNS } from '../../../../src/files/columns';
import { inStore } from '../../kit/store.js';

/** @typedef {import('../../../../src/files/columns').Mapping} Mapping */

export const FIELDS = Object.keys(MATTER_COLUMNS);

const STORED = 'matter-push.reconcile-columns';

/** Of files with the same head it is known how they were mapped before, in this tab. @param {readonly string[]} head @param {Mapping} mapping */
export function remember(head, mapping) {
  const all = { ...stored(), [headKey(head)]: mapping.map((field) => field ?? '') };
  inStore(
    () => sessionStorage,
    (store) => store.setItem(STORED, JSON.stringify(all)),
  );
}

/** @param {readonly string[]} head @returns {Mapping} as it was remembered, else guessed */
export function mappingFor(head) {
  const known = stored()[headKey(head)];
  if (!Array.isArray(known) || known.length !== head.length) return guessMapping(head);
  return known.map((field) => (FIELDS.includes(field) ? field : undefined));
}

/** Not the names themselves as a key: `__proto__` is one too. @param {readonly string[]} head */
const headKey = (head) => JSON.stringify(head);

/** A text that another page stored is ignored. @returns {Record<string, unknown>} */
const stored = () =>
  inStore(
    () => sessionStorage,
    (store) => JSON.parse(store.getItem(STORED) ?? '{}'),
  ) ?? {};
