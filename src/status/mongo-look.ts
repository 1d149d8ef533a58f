/** What MongoDB tells: how it is, its clients, and which failed pushes could be sent again. */
import { type Connection, Types } from 'mongoose';
import { ALL_REASONS, PushError } from '../protocol/errors';
import { selectPushes } from '../pushes/select-pushes';
import { type ClientRecord, clientModel } from '../storage/directory/client-model';
import { connectMongo, DatabaseSetupError, isMongoReady, nativeCollection } from '../storage/mongo';
import { bodyModel, type LoggedBody } from '../storage/push-log/body-model';
import type { LogEntry } from '../storage/push-log/entry-model';
import { createLogLookups } from '../storage/push-log/lookups';
import { createLogSearch } from '../storage/push-log/search';
import { findMissingIndexes } from '../storage/schema';

export type ClientFacts = Omit<ClientRecord, 'secrets' | 'queryKeys'>;

export interface MongoFacts {
  readonly version: string;
  /** `primary`, or `mongos`. */
  readonly role: string;
  /** Why pushes are rejected although it answers: the release step was not run. */
  readonly problem: string | null;
  readonly clients: readonly ClientFacts[];
  readonly resendable: Resendable;
}

/** Failed pushes of the last day that `matterctl log resend` would send. */
export interface Resendable {
  readonly count: number;
  /** There may be more: so many were looked at. */
  readonly isCut: boolean;
  readonly reasons: Readonly<Record<string, number>>;
}

/** Milliseconds for which a search of the log is cached: the screen is drawn more often. */
const CACHE_TTL = 30_000;

export class MongoLook {
  readonly #source: string | Connection;
  #opened: Promise<Connection> | undefined;
  #found: { readonly at: number; readonly resendable: Resendable } | undefined;

  /** @param source a URL: a connection of its own, which `close` ends; or one that is there and stays */
  constructor(source: string | Connection) {
    this.#source = source;
  }

  /** @throws where MongoDB cannot be asked now; it may be a moment later */
  async look(): Promise<MongoFacts> {
    const db = await this.#connection();
    if (!isMongoReady(db)) throw new Error('its driver knows no primary');
    const admin = db.getClient().db('admin');
    const [hello, { version }] = await Promise.all([
      admin.command({ hello: 1, maxTimeMS: 2_000 }),
      admin.command({ buildInfo: 1, maxTimeMS: 2_000 }),
    ]);
    const clients = await clientModel(db)
      .find({}, { secrets: 0, queryKeys: 0 })
      .sort({ _id: 1 })
      .maxTimeMS(2_000)
      .lean<ClientFacts[]>();
    const missing = await findMissingIndexes(db);
    const codes = new Set(clients.flatMap(({ systemCode }) => systemCode ?? []));
    return {
      version: String(version),
      role: hello.msg === 'isdbgrid' ? 'mongos' : 'primary',
      problem: missing.length === 0 ? null : `not prepared, run release; missing: ${missing}`,
      clients,
      resendable: await this.#resendable(db, [...codes]),
    };
  }

  async close(): Promise<void> {
    const db = await this.#opened?.catch(() => undefined);
    await db?.close();
  }

  async #connection(): Promise<Connection> {
    if (typeof this.#source !== 'string') return this.#source;
    this.#opened ??= connectMongo(this.#source);
    try {
      return await this.#opened;
    } catch (error) {
      // The next look tries it anew.
      this.#opened = undefined;
      // The message names a variable that may never have been set.
      throw error instanceof DatabaseSetupError ? error.cause : error;
    }
  }

  async #resendable(db: Connection, codes: readonly string[]): Promise<Resendable> {
    const found = this.#found;
    if (found && performance.now() - found.at < CACHE_TTL) return found.resendable;
    const resendable = await createFindResendable(db)(codes);
    this.#found = { resendable, at: performance.now() };
    return resendable;
  }
}

const DAY = 86_400_000;
/** Entries of a system that are looked at, the newest first. */
const MOST = 500;

/** What was not its caller's fault: the same push may be accepted now. */
const PASSING = ALL_REASONS.filter((reason) => {
  const { code } = new PushError(reason);
  return code >= 500 || code === 429;
});

/** @returns to be asked with the system codes of all clients */
function createFindResendable(
  connection: Connection,
): (systemCodes: readonly string[]) => Promise<Resendable> {
  const search = createLogSearch(connection);
  const deps = {
    bodies: whichAreKept(connection),
    lookups: createLogLookups(connection),
    again: false,
    byId: false,
  };
  return async (systemCodes) => {
    const from = Date.now() - DAY;
    const reasons: Record<string, number> = {};
    let isCut = false;
    for (const systemCode of systemCodes) {
      // Along one index, and so many at most.
      const page = await search.page({ systemCode, result: PASSING, from }, { limit: MOST });
      isCut ||= page.next !== undefined;
      for await (const selected of selectPushes(each(page.entries), deps)) {
        if (selected.kind !== 'push') continue;
        const { result = 'CONFIRMATION_TIMEOUT' } = selected.push.entry;
        reasons[result] = (reasons[result] ?? 0) + 1;
      }
    }
    const count = Object.values(reasons).reduce((sum, one) => sum + one, 0);
    return { count, isCut, reasons };
  };
}

async function* each(entries: readonly LogEntry[]): AsyncGenerator<LogEntry> {
  yield* entries;
}

/** Whether a body is there is all that counts: none is read. */
function whichAreKept(connection: Connection) {
  const collection = nativeCollection<LoggedBody>(bodyModel(connection));
  const some = Buffer.from('{}');
  return {
    find: async (ids: readonly string[]): Promise<Map<string, Buffer>> => {
      const wanted = { _id: { $in: ids.map((id) => new Types.ObjectId(id)) } };
      const found = await collection.find(wanted, { projection: { _id: 1 } }).toArray();
      return new Map(found.map(({ _id }) => [String(_id), some]));
    },
  };
}
