/** What a file says against what the service holds: asked in parts, compared by the rules of matterctl. */

import { priorityRank } from '../../../../src/domain/matter';
import { ASSIGNED_ID_PREFIX } from '../../../../src/domain/operation';
import { formatUnambiguous, parseDateTime } from '../../../../src/protocol/time';
import { findDifferences, toSide } from '../../../../src/queries/reconcile/find';
import { createRepushLine } from '../../../../src/queries/reconcile/repush';
import { AskError, ask, askLines } from '../../read/ask.js';
import { patiently } from './patiently.js';

/** @typedef {import('../../../../src/queries/reconcile/expected').ExpectedMatter} ExpectedMatter */
/** @typedef {import('../../../../src/domain/matter').Matter} Matter */
/** @typedef {import('../../../../src/queries/reconcile/find').SideValues} Side */
/** @typedef {import('../../../../src/queries/reconcile/find').MatterFinding | 'ORPHAN'} Kind */
/** @typedef {import('../../../../src/queries/reconcile/repush').RepushLine} RepushLine */
/** @typedef {import('../../../../src/queries/reconcile/repush').Obstacle} Obstacle */

/**
 * A matter that differs.
 *
 * @typedef {object} Difference
 * @property {string} externalId
 * @property {readonly Kind[]} kinds
 * @property {Side} yours null: the file does not name it
 * @property {Side} here null: there is no such matter
 * @property {RepushLine | Obstacle | null} push what mends it, or why nothing does; null: it is only shown
 * @property {ExpectedMatter} [matter] what the file says
 */

/** Matters of one question: far from the limits of its body. */
const BATCH = 500;

/**
 * @param {readonly ExpectedMatter[]} matters
 * @param {{ timeZone: string, overwriteNewer: boolean, matterType?: string, signal?: AbortSignal, onDone: (done: number) => void }} how
 * @returns {Promise<Difference[]>} in the order of the file
 */
export async function compareMatters(matters, how) {
  const { timeZone, overwriteNewer, matterType, signal, onDone } = how;
  /** @type {Difference[]} */
  const differences = [];
  const options = {
    overwriteNewer,
    matterType: matterType || undefined,
    formatLocal: (/** @type {number} */ at) => formatUnambiguous(at, timeZone),
  };
  for (let at = 0; at < matters.length; at += BATCH) {
    const some = matters.slice(at, at + BATCH);
    const held = await heldOf(some, timeZone, signal);
    for (const matter of some) {
      const { externalId } = matter.expected;
      if (held.equal?.has(externalId)) continue;
      const here = held.matters.get(externalId);
      const found = findDifferences(matter, here);
      if (found.length === 0) continue;
      const kinds = found.map(({ finding }) => finding);
      const push = createRepushLine(
        { expectedMatter: matter, stored: here, findings: kinds },
        options,
      );
      const yours = Object.assign({}, ...found.map((it) => it.yours));
      const theirs = here ? Object.assign({}, ...found.map((it) => it.here)) : null;
      differences.push({ externalId, kinds, yours, here: theirs, push, matter });
    }
    onDone(Math.min(at + BATCH, matters.length));
  }
  return differences;
}

/** @typedef {{ matters: Map<string, Matter>, equal?: Set<string> }} Held `equal`: those of which the service says so */

/** @param {readonly ExpectedMatter[]} some @param {string} timeZone @param {AbortSignal} [signal] @returns {Promise<Held>} */
async function heldOf(some, timeZone, signal) {
  if (some.every(statesNoContent)) return diff(some, signal);
  const views = await get(
    some.map(({ expected }) => expected.externalId),
    signal,
  );
  return { matters: new Map(views.map((view) => [view.externalId, toMatter(view, timeZone)])) };
}

/** @param {ExpectedMatter} matter */
const statesNoContent = (matter) =>
  matter.kind === 'row' && !matter.assignees && Object.keys(matter.pushed).length === 0;

/** Rows without content: the service says which differ, and in what. @param {readonly ExpectedMatter[]} some @param {AbortSignal} [signal] */
async function diff(some, signal) {
  const lines = some.map(({ expected }) => {
    const { externalId, bizStatus, externalStatusCode, sourceUpdatedAt: at, deleted } = expected;
    // A small number would be taken for seconds.
    const sourceUpdatedAt = typeof at === 'number' ? new Date(at).toISOString() : at;
    return { externalId, bizStatus, externalStatusCode, sourceUpdatedAt, deleted };
  });
  const { differences } = await patiently(() => ask('matters/diff', { lines }, signal), signal);
  const equal = new Set(lines.map(({ externalId }) => externalId));
  const matters = new Map();
  for (const { externalId, here } of differences) {
    equal.delete(externalId);
    if (here)
      matters.set(externalId, { ...here, sourceUpdatedAt: instantOf(here.sourceUpdatedAt) });
  }
  return { matters, equal };
}

/** With contents at their longest they are more than one answer may hold. @param {readonly string[]} externalIds @param {AbortSignal} [signal] @returns {Promise<any[]>} */
async function get(externalIds, signal) {
  try {
    return (await patiently(() => ask('matters/get', { externalIds }, signal), signal)).matters;
  } catch (error) {
    const isTooHeavy = error instanceof AskError && error.reason === 'VALIDATION_FAILED';
    if (!isTooHeavy || externalIds.length < 2) throw error;
    const half = Math.ceil(externalIds.length / 2);
    const first = await get(externalIds.slice(0, half), signal);
    return [...first, ...(await get(externalIds.slice(half), signal))];
  }
}

/** @param {string | null} at */
const instantOf = (at) => (at === null ? null : Date.parse(at));

/** Back from what is told of a matter to the matter, as far as it can be compared. @param {any} view @param {string} timeZone @returns {Matter} */
const toMatter = (view, timeZone) => ({
  ...view,
  priorityRank: priorityRank(view.priority),
  deadlineAt: view.deadlineAt === null ? null : (parseDateTime(view.deadlineAt, timeZone) ?? null),
  sourceUpdatedAt: instantOf(view.sourceUpdatedAt),
});

/** What is open here and not in the file. @param {ReadonlySet<string>} ids @param {AbortSignal} [signal] @returns {Promise<any[]>} */
export async function askOrphans(ids, signal) {
  const body = Array.from(ids, (id) => `${JSON.stringify(id)}\n`).join('');
  const lines = await patiently(() => askLines('matters/orphans', body, signal), signal);
  return lines.map((line) => JSON.parse(line));
}

/**
 * The same to be listed. Ids that the service itself made are left out: few systems know them. They are only told:
 * whether one is to be closed is nothing that a file can say by not naming it.
 *
 * @param {readonly any[]} open
 * @returns {Difference[]}
 */
export const orphansOf = (open) =>
  open.flatMap((orphan) => {
    const { externalId } = orphan;
    if (externalId.startsWith(ASSIGNED_ID_PREFIX)) return [];
    const matter = { ...orphan, sourceUpdatedAt: instantOf(orphan.sourceUpdatedAt) };
    const here = toSide(matter, ['bizStatus', 'title', 'sourceUpdatedAt']);
    return [{ externalId, kinds: ['ORPHAN'], yours: null, here, push: null }];
  });
