/** Fills a database with a log and a ledger of some size. */
import { type Connection, mongo } from 'mongoose';
import { createClientAdmin } from '../../src/storage/directory/client-admin';
import { createKeyRing } from '../../src/storage/directory/sealing';
import { prepareDatabase } from '../../src/storage/indexes';
import { matterModel } from '../../src/storage/ledger/matter-model';
import { connectMongo, nativeCollection } from '../../src/storage/mongo';
import { entryModel } from '../../src/storage/push-log/entry-model';
import type { Caller } from './caller';
import { BIG, entryOf, matterOf, type Scale, SMALL } from './generate';
import { SECRET_KEYS } from './service';

const UNREAD = [
  { model: entryModel, names: ['idempotency_fingerprints', 'resends', 'retention'] },
  { model: matterModel, names: ['party_lists', 'past_handlers', 'drafts'] },
] as const;
const DAY = 86_400_000;
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
): Promise<Map<string, Caller>> {
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
    entries.insertMany(range(first, end, entryOf), UNCONFIRMED).catch(unlessThere),
  );
}

/** The driver sends a batch again when the server was silent for long: some of it may be there. */
function unlessThere(error: unknown): void {
  if (!(error instanceof mongo.MongoBulkWriteError) || error.code !== 11_000) throw error;
}

async function createCallers(connection: Connection): Promise<Map<string, Caller>> {
  const admin = createClientAdmin(connection, createKeyRing([SECRET_KEYS]), Date.now);
  const callers = new Map<string, Caller>();
  for (const systemCode of [BIG, SMALL]) {
    const clientId = systemCode.toLowerCase();
    const { secret } = await admin.create({ clientId, systemCode });
    callers.set(systemCode, { clientId, secret: secret ?? '' });
  }
  return callers;
}
