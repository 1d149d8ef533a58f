/** The state of the reconciliation. It lives as long as the tab, and no longer than the key. */
import { computed, signal } from '@preact/signals';
import { isOf } from './doubts.js';

/** @typedef {import('./compare.js').Difference} Difference */
/** @typedef {import('./send.js').Told} Told */
/** @typedef {{ readonly name: 'read' | 'digest' | 'compare' | 'orphans' | 'verify' | 'send', readonly done?: number, readonly total?: number }} Work */
/** @typedef {{ readonly tone: 'good' | 'bad' | 'even', readonly name?: 'passes' | 'sent' | 'mended' | 'differs', readonly reason?: string | undefined, readonly message?: string, readonly fields?: readonly string[] }} Verdict */
/** @typedef {{ readonly source: Awaited<ReturnType<typeof import('./read-source.js').readSource>>, readonly rows: readonly Difference[], readonly compared: number }} Result */
/** @typedef {Awaited<ReturnType<typeof import('./digest.js').compareDigests>> & { timeZone: string }} Heat */
/** @typedef {{ readonly words: 'tried' | 'sent', readonly counts: readonly number[] }} Ended */

/** @template T @typedef {import('@preact/signals').Signal<T>} Signal */

export const STEPS = /** @type {const} */ (['file', 'columns', 'result']);
/** @typedef {typeof STEPS[number]} Step */
/** @type {Signal<Step>} */
export const step = signal('file');

/** @type {Signal<import('./read-source.js').Opened | undefined>} */
export const opened = signal(undefined);
/** @type {Signal<import('./mapping.js').Mapping>} */
export const mapping = signal([]);
/** `matterType`: of matters that are missing in the portal, if the file does not state it; empty: do not create them. */
export const options = signal({
  hasHead: true,
  orphans: false,
  overwriteNewer: false,
  matterType: '',
});
/** @type {Signal<Work | undefined>} */
export const work = signal(undefined);
/** @type {Signal<unknown>} */
export const problem = signal(undefined);
/** @type {Signal<Result | undefined>} */
export const result = signal(undefined);
/** `null`: the file has no times. @type {Signal<Heat | null | undefined>} */
export const heat = signal(undefined);
/** Ids of the matters that the user selected. @type {Signal<ReadonlySet<string>>} */
export const ticked = signal(new Set());
/** The results of matters that were checked or sent. @type {Signal<ReadonlyMap<string, Verdict>>} */
export const verdicts = signal(new Map());
/** @type {Signal<Ended | undefined>} */
export const ended = signal(undefined);
/** A kind of difference; empty: all. */
export const shownKind = signal('');

export const shownRows = computed(() => {
  const rows = result.value?.rows ?? [];
  const kind = shownKind.value;
  return kind === '' ? rows : rows.filter(isOf(kind));
});

/** Whether a difference can be sent and is not fixed yet. @param {Difference} row @param {ReadonlyMap<string, Verdict>} told */
const isOpen = ({ externalId, push }, told) =>
  push !== null && typeof push === 'object' && told.get(externalId)?.name !== 'mended';

/** @param {Difference} row */
export const canSend = (row) => isOpen(row, verdicts.value);

export const sendableRows = computed(() => {
  const told = verdicts.value;
  return shownRows.value.filter((row) => isOpen(row, told));
});

export function forgetResult() {
  result.value = undefined;
  heat.value = undefined;
  problem.value = undefined;
  ended.value = undefined;
  ticked.value = new Set();
  verdicts.value = new Map();
  shownKind.value = '';
}

export function forgetFile() {
  forgetResult();
  opened.value = undefined;
  mapping.value = [];
  step.value = 'file';
}
