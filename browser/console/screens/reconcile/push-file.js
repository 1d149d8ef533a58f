/** A file of pushes, folded with the service's own rules into what the ledger must hold. Pure. */

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { fold } from '../../../../src/domain/fold';
import { OPERATIONS } from '../../read/bodies.js';
import { Gathered } from './file-rows.js';
import { parseBody } from './push-bodies.js';

/** @typedef {import('../../../../src/domain/matter').Matter} Matter */
/** @typedef {import('../../../../src/domain/fold').PriorResult} PriorResult */
/** @typedef {{ matter: Matter | undefined, priorResults: ReadonlyMap<string, PriorResult> }} State */
/** @typedef {{ systemCode: string, timeZone: string, concluded: ReadonlySet<string>, now: number }} Portal */

/** @type {State} */
const NEW = { matter: undefined, priorResults: new Map() };
const KEY = /^[\x20-\x7e]{1,255}$/;

/** @param {Portal} portal */
export function createPushTaker(portal) {
  const gathered = new Gathered();
  /** @type {Map<string, State>} */
  const states = new Map();
  const take = (/** @type {any} */ json, /** @type {number} */ line) => {
    const push = mended(json);
    const { op, body, key } = push ?? {};
    const isPush = OPERATIONS.includes(op) && isObject(body);
    const parsed = isPush ? parseBody(op, body, portal) : ['op, body'];
    const isKeyGood = key === undefined || (typeof key === 'string' && KEY.test(key));
    const wrong = [...(Array.isArray(parsed) ? parsed : []), ...(isKeyGood ? [] : ['key'])];
    if (Array.isArray(parsed) || wrong.length > 0) {
      gathered.leaveOut([{ line, wrong: 'rejected', about: wrong.join(', ') }], body?.externalId);
    } else if (parsed.externalId === undefined) gathered.withoutId += 1;
    else {
      const { externalId, operation } = parsed;
      const fingerprint = key === undefined ? undefined : fingerprintOf(op, key, body);
      const state = states.get(externalId) ?? NEW;
      states.set(
        externalId,
        apply(state, { id: String(line), operation, fingerprint }, externalId, portal),
      );
    }
  };
  const source = () => {
    for (const [externalId, { matter }] of states) {
      if (matter) gathered.matters.set(externalId, { kind: 'folded', expected: matter });
      else gathered.ofBadLines.add(externalId);
    }
    return gathered.source(states.size - gathered.matters.size);
  };
  return { gathered, take, source };
}

export const isObject = (/** @type {unknown} */ it) =>
  typeof it === 'object' && it !== null && !Array.isArray(it);

/** A failure file keeps the line that failed in its `text`. @param {any} json */
function mended(json) {
  if (!isObject(json) || json.op !== undefined || json.text === undefined) return json;
  if (typeof json.text !== 'string') return json.text;
  try {
    return JSON.parse(json.text);
  } catch {
    // Told as what it is: no push.
    return json;
  }
}

/** @param {string} op @param {string} key @param {object} body */
const fingerprintOf = (op, key, body) =>
  `${op}\n${key}\n${bytesToHex(sha256(utf8ToBytes(JSON.stringify(body))))}`;

/**
 * A push that the domain rejects changes nothing, as in the service; a key that is repeated with its body, too.
 *
 * @param {State} state
 * @param {{ id: string, operation: import('../../../../src/domain/operation').Operation, fingerprint: string | undefined }} push
 * @param {string} externalId
 * @param {Portal} portal
 * @returns {State}
 */
function apply({ matter, priorResults }, push, externalId, { systemCode, concluded }) {
  const { id, operation, fingerprint } = push;
  const context = { systemCode, externalId, now: 0, newMatterId: 0n, names: new Map(), concluded };
  const pushes = [{ id, operation, ...(fingerprint && { idempotencyFingerprint: fingerprint }) }];
  const { matter: after, results } = fold(matter, pushes, context, priorResults);
  const [result] = results;
  if (!fingerprint || !result || result.duplicateOf || result.decision.kind !== 'accepted') {
    return { matter: after, priorResults };
  }
  const prior = { pushId: id, outcome: result.decision.outcome, matterId: 0n };
  return { matter: after, priorResults: new Map(priorResults).set(fingerprint, prior) };
}
