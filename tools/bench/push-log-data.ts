/**
 * A database that is filled with the entries and matters of a system that has been pushed to for a
 * while: generated, the same each run.
 */

import { type Connection, mongo } from 'mongoose';
import { connectMongo, nativeCollection } from '../../src/infra/mongo';
import { type MatterRecord, matterModel } from '../../src/storage/ledger';
import { entryModel, type LogEntry } from '../../src/storage/push-log';
import { firstIdAt } from '../../src/storage/push-log/request-id';
import { prepareDatabase } from '../../src/storage/schema';
import { createClients } from '../harness/directory';
import type { SigningCaller } from '../harness/sender';

const DAY = 86_400_000;
const UNREAD = [
  { model: entryModel, names: ['idempotency_fingerprints', 'resends', 'retention'] },
  { model: matterModel, names: ['party_lists', 'past_handlers', 'drafts'] },
] as const;
const BATCH = 2_000;
const TELL_EVERY = 15_000;
/** Milliseconds for one batch: a server that is being filled falls silent now and then. */
const TIMEOUT = 600_000;
/** Nothing rests on these writes: they need not be confirmed by the journal. */
const UNCONFIRMED = { ordered: false, writeConcern: { w: 1, journal: false } } as const;

/** @returns who may ask, by system code */
export async function fillDatabase(
  url: string,
  scale: Scale,
  say: (text: string) => void,
): Promise<Map<string, SigningCaller>> {
  const connection = await connectMongo(url, TIMEOUT);
  try {
    const settings = { retention: 60 * DAY, bodyRetention: DAY, concluded: ['APPROVED'] };
    await prepareDatabase(connection, settings);
    await dropUnread(connection);
    await fill(connection, scale, say);
    return await createCallers(connection);
  } finally {
    await connection.close();
  }
}

/** Indexes that no measured query reads only make the filling longer. */
async function dropUnread(connection: Connection): Promise<void> {
  for (const { model, names } of UNREAD) {
    const { collection } = model(connection);
    for (const name of names) await collection.dropIndex(name);
  }
}

async function fill(connection: Connection, scale: Scale, say: (text: string) => void) {
  const entries = nativeCollection(entryModel(connection));
  const matters = nativeCollection(matterModel(connection));
  const insert = async (
    what: string,
    count: number,
    write: (first: number, end: number) => Promise<unknown>,
  ) => {
    const startedAt = Date.now();
    let toldAt = startedAt;
    for (let n = 0; n < count; n += 2 * BATCH) {
      const middle = Math.min(n + BATCH, count);
      const end = Math.min(n + 2 * BATCH, count);
      await Promise.all([write(n, middle), end > middle && write(middle, end)]);
      if (Date.now() - toldAt < TELL_EVERY && end < count) continue;
      toldAt = Date.now();
      const rate = Math.round((end * 1_000) / (toldAt - startedAt));
      say(`${end.toLocaleString('en')} of ${count.toLocaleString('en')} ${what}, ${rate}/s`);
    }
  };
  const range = <T>(first: number, end: number, make: (n: number, scale: Scale) => T) =>
    Array.from({ length: end - first }, (_, n) => make(first + n, scale));
  await insert('matters', scale.matters, (first, end) =>
    matters.insertMany(range(first, end, matterOf), UNCONFIRMED).catch(unlessThere),
  );
  await insert('log entries', scale.entries, (first, end) =>
    entries.insertMany(range(first, end, benchEntryOf), UNCONFIRMED).catch(unlessThere),
  );
}

/** The driver sends a batch again when the server was silent for long: some of it may be there. */
function unlessThere(error: unknown): void {
  if (!(error instanceof mongo.MongoBulkWriteError) || error.code !== 11_000) throw error;
}

async function createCallers(connection: Connection): Promise<Map<string, SigningCaller>> {
  const clients = [BIG, SMALL_LOG].map((systemCode) => ({
    clientId: systemCode.toLowerCase(),
    systemCode,
  }));
  const created = await createClients(connection, clients);
  return new Map(created.map((client) => [client.systemCode, client]));
}

/** The log of 20 days, ending an hour ago. */
export const LOG_SPAN = 20 * DAY;
/** Entries of one matter, on average. */
const PER_MATTER = 10;
/** Matters of one day by sourceUpdatedAt, whatever the number of all. */
const MATTERS_PER_DAY = 2_500;
/** To-dos that are open at a time, whatever the number of all. */
export const OPEN_MATTERS = 5_000;

export const BIG = 'BIG';
export const SMALL_LOG = 'SMALL';
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

export const benchExternalIdOf = (matter: number) => `M-${matter}`;
export const keyOf = (entry: number) => `key-${entry}`;
export const benchReceivedAtOf = (entry: number, { entries, end }: Scale) =>
  Math.floor(end - LOG_SPAN + (entry / entries) * LOG_SPAN);
export const requestIdOf = (entry: number, scale: Scale) =>
  firstIdAt(benchReceivedAtOf(entry, scale)).slice(0, 16) +
  (entry % 2 ** 32).toString(16).padStart(8, '0');
/** 70 % of the log is one system's, 0.1 % another's. */
export function systemOf(entry: number): string {
  const at = scramble(entry);
  if (at < 0.7) return BIG;
  return at < 0.701 ? SMALL_LOG : `S${Math.floor(scramble(entry + 1) * 8)}`;
}

export function benchEntryOf(n: number, scale: Scale): LogEntry {
  const received = benchReceivedAtOf(n, scale);
  const at = (later: number) => new Date(received + later);
  const systemCode = systemOf(n);
  const isRare = n % Math.floor(scale.entries / RARE_ENTRIES) === 7;
  const isRejected = isRare || n % 100 === 3;
  const reason = isRare ? RARE_REASON : isRejected ? 'MATTER_NOT_FOUND' : undefined;
  const operation = n % 1_000 === 5 ? 'delete' : n % 5 < 2 ? 'status' : 'upsert';
  const outcome = operation === 'delete' ? 'DELETED' : n % 10 === 0 ? 'CREATED' : 'UPDATED';
  return {
    _id: new mongo.ObjectId(requestIdOf(n, scale)),
    clientId: systemCode.toLowerCase(),
    systemCode,
    operation,
    externalId: benchExternalIdOf(Math.floor(scramble(n + 2) * (scale.entries / PER_MATTER))),
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
    result: reason ?? outcome,
    ...(reason && { failure: reason }),
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
    externalId: benchExternalIdOf(n),
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
