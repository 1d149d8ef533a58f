/**
 * Fills a database with generated log entries and matters, like those of a system in use. They are the same in each
 * run.
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
const REPORT_EVERY = 15_000;
/** Milliseconds for one batch: under this load a server sometimes does not answer for a while. */
const TIMEOUT = 600_000;
/** The data can be generated again, so the writes do not wait for the journal. */
const WITHOUT_JOURNAL = { ordered: false, writeConcern: { w: 1, journal: false } } as const;

/** @returns the clients that send the queries, by system code */
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

/** Drops the indexes that no measured query reads: they slow down the filling. */
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
    let reportedAt = startedAt;
    for (let n = 0; n < count; n += 2 * BATCH) {
      const middle = Math.min(n + BATCH, count);
      const end = Math.min(n + 2 * BATCH, count);
      await Promise.all([write(n, middle), end > middle && write(middle, end)]);
      if (Date.now() - reportedAt < REPORT_EVERY && end < count) continue;
      reportedAt = Date.now();
      const rate = Math.round((end * 1_000) / (reportedAt - startedAt));
      say(`${end.toLocaleString('en')} of ${count.toLocaleString('en')} ${what}, ${rate}/s`);
    }
  };
  const range = <T>(first: number, end: number, make: (n: number, scale: Scale) => T) =>
    Array.from({ length: end - first }, (_, n) => make(first + n, scale));
  await insert('matters', scale.matters, (first, end) =>
    matters.insertMany(range(first, end, matterOf), WITHOUT_JOURNAL).catch(ignoreDuplicates),
  );
  await insert('log entries', scale.entries, (first, end) =>
    entries.insertMany(range(first, end, benchEntryOf), WITHOUT_JOURNAL).catch(ignoreDuplicates),
  );
}

/** Ignores duplicate keys: the driver repeats a batch after a timeout, and a part of the batch may exist. */
function ignoreDuplicates(error: unknown): void {
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

/** The time span of the log: 20 days, which end an hour ago. */
export const LOG_SPAN = 20 * DAY;
/** Entries of one matter, on average. */
const PER_MATTER = 10;
/** Matters of one day by sourceUpdatedAt, for any total. */
const MATTERS_PER_DAY = 2_500;
/** Open to-dos, for any total. */
export const OPEN_MATTERS = 5_000;

export const BIG = 'BIG';
export const SMALL_LOG = 'SMALL';
/** A reason with the same number of entries in a log of any size. */
export const RARE_REASON = 'TOO_MANY_PARTIES';
const RARE_ENTRIES = 10;

export interface Scale {
  readonly entries: number;
  readonly matters: number;
  /** The time of receipt of the newest entry, in epoch milliseconds. */
  readonly end: number;
}

/** @returns a pseudo-random number from 0 to 1 that depends only on n */
const fractionOf = (n: number) => (Math.imul(n, 2_654_435_761) >>> 0) / 2 ** 32;

export const benchExternalIdOf = (matter: number) => `M-${matter}`;
export const keyOf = (entry: number) => `key-${entry}`;
export const benchReceivedAtOf = (entry: number, { entries, end }: Scale) =>
  Math.floor(end - LOG_SPAN + (entry / entries) * LOG_SPAN);
export const requestIdOf = (entry: number, scale: Scale) =>
  firstIdAt(benchReceivedAtOf(entry, scale)).slice(0, 16) +
  (entry % 2 ** 32).toString(16).padStart(8, '0');
/** 70 % of the entries belong to one large system, 0.1 % to a small one. */
export function systemOf(entry: number): string {
  const at = fractionOf(entry);
  if (at < 0.7) return BIG;
  return at < 0.701 ? SMALL_LOG : `S${Math.floor(fractionOf(entry + 1) * 8)}`;
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
    externalId: benchExternalIdOf(Math.floor(fractionOf(n + 2) * (scale.entries / PER_MATTER))),
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

/** Matter n of the large system. The last OPEN_MATTERS matters are open. */
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

/** @returns the start of the UTC day on which matter n was last updated at its source, in epoch milliseconds */
export const dayOf = (n: number, scale: Scale): number =>
  Number(matterOf(n, scale).sourceUpdatedAt) - (Number(matterOf(n, scale).sourceUpdatedAt) % DAY);
