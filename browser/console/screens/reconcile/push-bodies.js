/** Bodies of pushes as the service reads them (src/protocol/requests.ts): into an operation, or what is wrong. Pure. */
import { MAX_PARTIES, removalTest } from '../../../../src/domain/parties';
import {
  isBizType,
  isExternalId,
  isNothing,
  isPayload,
  isStatus,
  isText,
  isTitle,
  isUrl,
  isUsername,
  MAX_LENGTH,
} from '../../../../src/protocol/field-rules';
import { isWritableInstant, parseDateTime, parseInstant } from '../../../../src/protocol/time';

/** @typedef {import('../../../../src/domain/operation').Operation} Operation */
/** @typedef {import('../../../../src/domain/operation').OperationName} OperationName */
/** @typedef {import('../../../../src/domain/matter').PartyRef} PartyRef */
/** @typedef {import('../../../../src/domain/matter').PartyRemoval} PartyRemoval */
/** @typedef {{ readonly operation: Operation, readonly externalId: string | undefined }} Parsed */

const TYPES = ['TODO', 'NOTICE', 'ALERT', 'REMIND'];
const ROLES = ['ASSIGNEE', 'CC', 'RECIPIENT'];
/** A time that lies further ahead would freeze its matter. */
const DAY = 86_400_000;

/** Texts that may be absent, and that null clears. @satisfies {Readonly<Record<string, import('../../../../src/protocol/field-rules').TextRule>>} */
const CONTENT = {
  summary: isText(MAX_LENGTH.summary),
  content: isText(MAX_LENGTH.content),
  pcUrl: isUrl,
  mobileUrl: isUrl,
  bizType: isBizType,
  priority: isText(MAX_LENGTH.priority),
  initiatorExtId: isText(MAX_LENGTH.initiatorExtId),
  initiatorUsername: isUsername,
  externalStatusCode: isText(MAX_LENGTH.externalStatusCode),
  externalStatusLabel: isText(MAX_LENGTH.externalStatusLabel),
  payloadJson: isPayload,
};

/**
 * @param {OperationName} op
 * @param {Readonly<Record<string, any>>} body
 * @param {{ timeZone: string, now: number }} context
 * @returns {Parsed | string[]} names of fields that are no good
 */
export function parseBody(op, body, { timeZone, now }) {
  const { sourceUpdatedAt, externalId } = body;
  const at = isNothing(sourceUpdatedAt) ? undefined : parseInstant(sourceUpdatedAt, timeZone);
  const isTimely = isNothing(sourceUpdatedAt) || (at !== undefined && at <= now + DAY);
  const wrong = isTimely ? [] : ['sourceUpdatedAt'];
  const mayBeAbsent = op === 'upsert' && isNothing(externalId);
  if (!mayBeAbsent && !isExternalId(externalId)) wrong.push('externalId');
  const stamp = at === undefined ? {} : { sourceUpdatedAt: at };
  const read = op === 'upsert' ? readUpsert : op === 'delete' ? readDelete : readStatus;
  const operation = read(body, wrong, { op, timeZone, stamp });
  if (wrong.length > 0) return wrong;
  return { operation: /** @type {Operation} */ (operation), externalId: externalId ?? undefined };
}

/** @typedef {{ op: OperationName, timeZone: string, stamp: { sourceUpdatedAt?: number } }} Reading */

/** @param {Readonly<Record<string, any>>} body @param {string[]} wrong @param {Reading} reading */
function readUpsert(body, wrong, { timeZone, stamp }) {
  const { matterType, externalId, title, bizStatus, deadlineAt } = body;
  const { parties, replaceParties } = body;
  const { removeParties } = removalsOf(body, wrong);
  if (!TYPES.includes(matterType)) wrong.push('matterType');
  if (matterType === 'TODO' && isNothing(externalId)) wrong.push('externalId');
  if (!isTitle(title)) wrong.push('title');
  if (!isNothing(bizStatus) && !isStatus(bizStatus)) wrong.push('bizStatus');
  if (!isNothing(replaceParties) && typeof replaceParties !== 'boolean') {
    wrong.push('replaceParties');
  }
  if (!isNothing(parties) && !areParties(parties)) wrong.push('parties');
  if (replaceParties === true && isNothing(parties)) wrong.push('parties');
  if (removeParties?.length) {
    const isSent = areParties(parties) && parties.some(removalTest(removeParties));
    if (replaceParties === true || isSent) wrong.push('removeParties');
  }
  // Clearing a status returns the matter to the default of a new one.
  const status = bizStatus === null ? 'PENDING' : bizStatus;
  return {
    op: 'upsert',
    matterType,
    title,
    content: { ...textsOf(body, wrong), ...deadlineOf(deadlineAt, timeZone, wrong) },
    replaceParties: replaceParties ?? false,
    assignedId: isNothing(externalId),
    ...(status && { bizStatus: status }),
    ...stamp,
    ...(areParties(parties) && { parties: parties.map(partyOf) }),
    ...(removeParties && { removeParties }),
  };
}

/** @param {Readonly<Record<string, any>>} body @param {string[]} wrong */
function textsOf(body, wrong) {
  /** @type {Record<string, unknown>} */
  const texts = {};
  for (const [name, isGood] of Object.entries(CONTENT)) {
    const value = body[name];
    if (value === undefined) continue;
    if (value !== null && !isGood(value)) wrong.push(name);
    else texts[name] = name === 'bizType' && value !== null ? value.trim() : value;
  }
  return texts;
}

/** @param {unknown} value @param {string} timeZone @param {string[]} wrong */
function deadlineOf(value, timeZone, wrong) {
  if (value === undefined) return {};
  if (value === null) return { deadlineAt: null };
  const deadlineAt = typeof value === 'string' ? parseDateTime(value, timeZone) : undefined;
  if (deadlineAt === undefined || !isWritableInstant(deadlineAt, timeZone))
    wrong.push('deadlineAt');
  return { deadlineAt };
}

/** @param {unknown} value @param {(role: any) => boolean} isRole */
const areNamed = (value, isRole) =>
  Array.isArray(value) &&
  value.length <= MAX_PARTIES &&
  value.every((it) => isUsername(it?.username) && isRole(it.partyRole));

/** @param {any} role */
const isRole = (role) => ROLES.includes(role);

/** @param {unknown} value @returns {value is readonly PartyRef[]} */
const areParties = (value) => areNamed(value, isRole);

/** @param {Readonly<Record<string, any>>} body @param {string[]} wrong @returns {{ removeParties?: PartyRemoval[] }} */
function removalsOf({ removeParties }, wrong) {
  if (isNothing(removeParties)) return {};
  if (areNamed(removeParties, (role) => isNothing(role) || isRole(role)))
    return { removeParties: removeParties.map(removalOf) };
  wrong.push('removeParties');
  return {};
}

/** @template T @param {{ username: string, partyRole: T }} party */
const partyOf = ({ username, partyRole }) => ({ username, partyRole });

/** A role of `null` is an absent role: all roles of the user. @param {{ username: string, partyRole?: PartyRemoval['partyRole'] | null }} removal */
const removalOf = ({ username, partyRole }) => ({ username, ...(partyRole && { partyRole }) });

/** @param {Readonly<Record<string, any>>} body @param {string[]} wrong @param {Reading} reading */
function readStatus(body, wrong, { op, stamp }) {
  const { bizStatus, externalStatusCode: code, externalStatusLabel: label } = body;
  const { resetAssigneeUnread: resets } = body;
  if (!isNothing(bizStatus) && !isStatus(bizStatus)) wrong.push('bizStatus');
  if (!isNothing(code) && !CONTENT.externalStatusCode(code)) wrong.push('externalStatusCode');
  if (!isNothing(label) && !CONTENT.externalStatusLabel(label)) wrong.push('externalStatusLabel');
  if (!isNothing(resets) && typeof resets !== 'boolean') wrong.push('resetAssigneeUnread');
  return {
    op,
    ...(bizStatus && { bizStatus }),
    ...(code !== undefined && { externalStatusCode: code }),
    ...(label !== undefined && { externalStatusLabel: label }),
    ...stamp,
    ...(op === 'status' && removalsOf(body, wrong)),
    resetAssigneeUnread: resets ?? op === 'reopen',
  };
}

/** @param {Readonly<Record<string, any>>} _body @param {string[]} _wrong @param {Reading} reading */
const readDelete = (_body, _wrong, { stamp }) => ({ op: 'delete', ...stamp });
