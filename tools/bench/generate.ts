/** Entries and matters of a system that has been pushed to for a while: generated, the same each run. */
import { mongo } from 'mongoose';
import type { MatterRecord } from '../../src/storage/ledger/matter-model';
import type { LogEntry } from '../../src/storage/push-log/entry-model';
import { firstIdAt } from '../../src/storage/push-log/request-id';

const DAY = 86_400_000;
/** The log of 20 days, ending an hour ago. */
export const LOG_SPAN = 20 * DAY;
/** Entries of one matter, on average. */
const PER_MATTER = 10;
/** Matters of one day by sourceUpdatedAt, whatever the number of all. */
const MATTERS_PER_DAY = 2_500;
/** To-dos that are open at a time, whatever the number of all. */
export const OPEN_MATTERS = 5_000;

export const BIG = 'BIG';
export const SMALL = 'SMALL';
/** Occurs this often in a log of any size. */
export const RARE_REASON = 'TOO_MANY_PARTIES';
const RARE_ENTRIES = 10;

export interface Scale {
  readonly entries: number;
  readonly matters: number;
  /** The newest entry's time of receipt, epoch milliseconds. */
  readonly end: number;
}

/** A fixed scramble: spreads ids without a random generator's state. */
const scramble = (n: number) => (Math.imul(n, 2_654_435_761) >>> 0) / 2 ** 32;

export const externalIdOf = (matter: number) => `M-${matter}`;
export const keyOf = (entry: number) => `key-${entry}`;
export const receivedAtOf = (entry: number, { entries, end }: Scale) =>
  Math.floor(end - LOG_SPAN + (entry / entries) * LOG_SPAN);
export const requestIdOf = (entry: number, scale: Scale) =>
  firstIdAt(receivedAtOf(entry, scale)).slice(0, 16) +
  (entry % 2 ** 32).toString(16).padStart(8, '0');
/** 70 % of the log is one system's, 0.1 % another's. */
export function systemOf(entry: number): string {
  const at = scramble(entry);
  if (at < 0.7) return BIG;
  return at < 0.701 ? SMALL : `S${Math.floor(scramble(entry + 1) * 8)}`;
}

export function entryOf(n: number, scale: Scale): LogEntry {
  const received = receivedAtOf(n, scale);
  const at = (later: number) => new Date(received + later);
  const systemCode = systemOf(n);
  const isRare = n % Math.floor(scale.entries / RARE_ENTRIES) === 7;
  const isRejected = isRare || n % 100 === 3;
  const operation = n % 1_000 === 5 ? 'delete' : n % 5 < 2 ? 'status' : 'upsert';
  const outcome = operation === 'delete' ? 'DELETED' : n % 10 === 0 ? 'CREATED' : 'UPDATED';
  return {
    _id: new mongo.ObjectId(requestIdOf(n, scale)),
    clientId: systemCode.toLowerCase(),
    systemCode,
    operation,
    externalId: externalIdOf(Math.floor(scramble(n + 2) * (scale.entries / PER_MATTER))),
    idempotencyKey: keyOf(n),
    idempotencyFingerprint: mongo.ObjectId.createFromTime(n).toHexString().slice(2),
    bodyHash: requestIdOf(n, scale).repeat(3).slice(0, 64),
    bodySize: 300 + (n % 700),
    secretId: '0123456789ab',
    receivedAt: at(0),
    deadlineAt: at(10_000),
    queuedAt: at(3),
    startedAt: at(8),
    settledAt: at(21),
    state: isRejected ? 'REFUSED' : 'PERSISTED',
    result: isRare ? RARE_REASON : isRejected ? 'MATTER_NOT_FOUND' : outcome,
    ...(!isRejected && {
      matterId: BigInt(n),
      revision: 1 + (n % PER_MATTER),
      changes: [
        { field: 'bizStatus', from: 'PENDING', to: 'PROCESSING' },
        { field: 'sourceUpdatedAt', from: null, to: new Date(received).toISOString() },
      ],
    }),
    worker: 'bench:1',
  };
}

/** Matter n of the big system; the last ones are open. */
export function matterOf(n: number, scale: Scale): MatterRecord {
  const changed = new Date(scale.end - (scale.matters - n) * (DAY / MATTERS_PER_DAY));
  const isOpen = n >= scale.matters - OPEN_MATTERS;
  return {
    _id: BigInt(n) + 1n,
    systemCode: BIG,
    externalId: externalIdOf(n),
    matterType: 'TODO',
    title: `审批：第 ${n} 号采购申请`,
    summary: null,
    content: null,
    pcUrl: `https://oa.example.com/t/${n}`,
    mobileUrl: null,
    bizType: `type-${n % 5}`,
    priority: null,
    priorityRank: 1,
    bizStatus: isOpen ? 'PENDING' : 'APPROVED',
    phase: isOpen ? 'OPEN' : 'CONCLUDED',
    deadlineAt: null,
    initiatorExtId: null,
    initiatorUsername: null,
    externalStatusCode: 'S1',
    externalStatusLabel: null,
    sourceUpdatedAt: changed,
    payloadJson: null,
    parties: [
      { username: `u${n % 1_000}`, partyRole: 'ASSIGNEE', displayName: 'U', unread: false },
    ],
    pastHandlers: [],
    deleted: false,
    createdAt: changed,
    updatedAt: changed,
    deletedAt: null,
    revision: 3,
  };
}

/** The day on which some of the matters were last updated at their source, all of it in the past. */
export const dayOf = (n: number, scale: Scale): number =>
  Number(matterOf(n, scale).sourceUpdatedAt) - (Number(matterOf(n, scale).sourceUpdatedAt) % DAY);
