/** Reads the part of the status that comes from MongoDB. */
import { type Connection, Types } from 'mongoose';
import { connectMongo, DatabaseSetupError, nativeCollection } from '../infra/mongo';
import { isMongoReady } from '../infra/mongo-availability';
import { ALL_REASONS, PushError } from '../protocol/errors';
import { selectPushes } from '../pushes/resend';
import { type ClientRecord, clientModel } from '../storage/directory';
import {
  bodyModel,
  createFindMended,
  createLogLookups,
  createLogSearch,
  type LogEntry,
  type LoggedBody,
} from '../storage/push-log';
import { findMissingIndexes } from '../storage/schema';
import { type RecentPushes, readRecentPushes } from './recent-pushes';

export type ClientWithoutKeys = Omit<ClientRecord, 'secrets' | 'queryKeys'>;

export interface MongoStatus {
  readonly version: string;
  /** `primary` or `mongos`. */
  readonly role: string;
  /** Message that lists the missing indexes; null if no index is missing. */
  readonly problem: string | null;
  readonly clients: readonly ClientWithoutKeys[];
  readonly recent: RecentPushes;
  readonly resendable: Resendable;
}

/** Failed pushes of the last day that `matterctl log resend` can send again (RETRYABLE_REASONS). */
export interface Resendable {
  readonly count: number;
  /** True if the search did not read all failed pushes. */
  readonly isCut: boolean;
  /** Number of pushes, by the reason of the failure. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** Milliseconds for which `resendable` is cached. */
const CACHE_TTL = 30_000;

export class MongoStatusReader {
  readonly #source: string | Connection;
  #opened: Promise<Connection> | undefined;
  #found: { readonly at: number; readonly resendable: Resendable } | undefined;

  /** @param source a URL or an existing connection */
  constructor(source: string | Connection) {
    this.#source = source;
  }

  /** @throws an error if MongoDB is unavailable */
  async look(): Promise<MongoStatus> {
    const db = await this.#connection();
    if (!isMongoReady(db)) throw new Error('the driver has found no primary');
    const admin = db.getClient().db('admin');
    const [hello, { version }] = await Promise.all([
      admin.command({ hello: 1, maxTimeMS: 2_000 }),
      admin.command({ buildInfo: 1, maxTimeMS: 2_000 }),
    ]);
    const clients = await clientModel(db)
      .find({}, { secrets: 0, queryKeys: 0 })
      .sort({ _id: 1 })
      .maxTimeMS(2_000)
      .lean<ClientWithoutKeys[]>();
    const missing = await findMissingIndexes(db);
    const recent = await readRecentPushes(db, Date.now());
    const codes = new Set(clients.flatMap(({ systemCode }) => systemCode ?? []));
    return {
      version: String(version),
      role: hello.msg === 'isdbgrid' ? 'mongos' : 'primary',
      problem: missing.length === 0 ? null : `not prepared, run release; missing: ${missing}`,
      clients,
      recent,
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
      this.#opened = undefined;
      // The message of a DatabaseSetupError names MONGO_URL, but a `matterctl` option can set the URL.
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
/** Maximum log entries that the search reads for each system. */
const MAX_ENTRIES = 500;

const RETRYABLE_REASONS = ALL_REASONS.filter((reason) => {
  const { code } = new PushError(reason);
  return code >= 500 || code === 429;
});

function createFindResendable(
  connection: Connection,
): (systemCodes: readonly string[]) => Promise<Resendable> {
  const search = createLogSearch(connection);
  const deps = {
    bodies: storedBodies(connection),
    lookups: createLogLookups(connection),
    findMended: createFindMended(connection, 'pending'),
    again: false,
    byId: false,
  };
  return async (systemCodes) => {
    const from = Date.now() - DAY;
    const reasons: Record<string, number> = {};
    let isCut = false;
    for (const systemCode of systemCodes) {
      const page = await search.page(
        { systemCode, result: RETRYABLE_REASONS, from },
        { limit: MAX_ENTRIES },
      );
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

/** Returns placeholders instead of the bodies, for speed. */
function storedBodies(connection: Connection) {
  const collection = nativeCollection<LoggedBody>(bodyModel(connection));
  const placeholder = Buffer.from('{}');
  return {
    find: async (ids: readonly string[]): Promise<Map<string, Buffer>> => {
      const wanted = { _id: { $in: ids.map((id) => new Types.ObjectId(id)) } };
      const found = await collection.find(wanted, { projection: { _id: 1 } }).toArray();
      return new Map(found.map(({ _id }) => [String(_id), placeholder]));
    },
  };
}
