/** Whether a failed push may be sent again by itself: what came after it must not be overwritten unseen. Pure. */
import { OWN_REASONS } from './reasons.js';

/** @typedef {import('./shapes').Entry} Entry */
/** @typedef {import('./shapes').LogPage} LogPage */
/** @typedef {(question: Record<string, unknown>) => Promise<LogPage>} AskPage of push-logs/query */
/**
 * `isMended`: it fails no more. `failed`: pushes of its matter that still fail, the newest first; each of them counts
 * as mended once this one is written. `others`: how many of them are not the same push.
 *
 * @typedef {{ readonly isMended: boolean, readonly failed: readonly Entry[], readonly others: number }} Objection
 */

/** What has no key is sent under one that tells which push it is. @param {Pick<Entry, 'requestId' | 'idempotencyKey'>} push */
export const keyOf = ({ requestId, idempotencyKey }) => idempotencyKey ?? `${CONSOLE}${requestId}`;
const CONSOLE = 'console/';

/** @param {string} key */
export const isConsoleKey = (key) => key.startsWith(CONSOLE);

/** Whether its sender named no matter: the service assigns an id to what is valid. @param {string | null} externalId */
export const isUnnamed = (externalId) => externalId === null || externalId.startsWith('auto:');

/**
 * A key belongs to its client. Where nothing else names what was pushed, its client would make a second one of it by
 * pushing it again, whatever another client sent meanwhile.
 *
 * @param {Pick<Entry, 'clientId' | 'externalId' | 'idempotencyKey'>} push @param {string} clientId who would send it
 */
export const isForeign = ({ externalId, idempotencyKey, ...push }, clientId) =>
  isUnnamed(externalId) && idempotencyKey !== null && push.clientId !== clientId;

/**
 * @param {Entry} entry
 * @param {AskPage} askPage
 * @returns {Promise<Objection | undefined>} undefined: there is none
 */
export async function objectionTo(entry, askPage) {
  const { requestId, externalId } = entry;
  const isMended = (await allFound({ requestId, stillFailed: true }, askPage)).length === 0;
  if (isMended) return { isMended, failed: [], others: 0 };
  if (externalId === null) return undefined;
  const failed = await allFound({ externalId, stillFailed: true, reason: OWN_REASONS }, askPage);
  const others = failed.filter((other) => !isSame(other, entry)).length;
  return others > 0 ? { isMended, failed, others } : undefined;
}

/** Whether one is the other, tried once more. @param {Entry} a @param {Entry} b */
const isSame = (a, b) =>
  a.operation === b.operation && (a.bodyHash === b.bodyHash || keyOf(a) === keyOf(b));

/** Of one matter nobody needs to know more of. */
const MOST = 1_000;

/** A page may be empty and not be the last. @param {Record<string, unknown>} question @param {AskPage} askPage */
async function allFound(question, askPage) {
  const found = /** @type {Entry[]} */ ([]);
  let cursor = null;
  do {
    const page = await askPage({ ...question, limit: 500, ...(cursor && { cursor }) });
    found.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor !== null && found.length < MOST);
  return found;
}
