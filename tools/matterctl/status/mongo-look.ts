/** What MongoDB tells: how it is, its clients, and which failed pushes could be sent again. */
import type { Connection } from 'mongoose';
import { type ClientRecord, clientModel } from '../../../src/storage/directory/client-model';
import { connectMongo, DatabaseSetupError, isMongoReady } from '../../../src/storage/mongo';
import { createFindResendable } from './resendable';
import type { Resendable } from './status';

export type ClientFacts = Omit<ClientRecord, 'secrets'>;

export interface MongoFacts {
  readonly version: string;
  /** `primary`, or `mongos`. */
  readonly role: string;
  readonly clients: readonly ClientFacts[];
  readonly resendable: Resendable;
}

export interface MongoLook {
  /** @throws where MongoDB cannot be asked now; it may be a moment later */
  look(): Promise<MongoFacts>;
  close(): Promise<void>;
}

/** Milliseconds for which a search of the log is cached: the screen is drawn more often. */
const CACHE_TTL = 30_000;

export function openMongoLook(url: string): MongoLook {
  let opened: Promise<Connection> | undefined;
  let found: { readonly at: number; readonly resendable: Resendable } | undefined;
  const connection = async (): Promise<Connection> => {
    opened ??= connectMongo(url);
    try {
      return await opened;
    } catch (error) {
      // The next look tries it anew.
      opened = undefined;
      // The message names a variable that may never have been set.
      throw error instanceof DatabaseSetupError ? error.cause : error;
    }
  };
  const resendable = async (db: Connection, codes: readonly string[]): Promise<Resendable> => {
    if (found && performance.now() - found.at < CACHE_TTL) return found.resendable;
    found = { resendable: await createFindResendable(db)(codes), at: performance.now() };
    return found.resendable;
  };
  return {
    look: async () => {
      const db = await connection();
      if (!isMongoReady(db)) throw new Error('its driver knows no primary');
      const admin = db.getClient().db('admin');
      const [hello, { version }] = await Promise.all([
        admin.command({ hello: 1, maxTimeMS: 2_000 }),
        admin.command({ buildInfo: 1, maxTimeMS: 2_000 }),
      ]);
      const clients = await clientModel(db)
        .find({}, { secrets: 0 })
        .sort({ _id: 1 })
        .maxTimeMS(2_000)
        .lean<ClientFacts[]>();
      const codes = new Set(clients.flatMap(({ systemCode }) => systemCode ?? []));
      return {
        version: String(version),
        role: hello.msg === 'isdbgrid' ? 'mongos' : 'primary',
        clients,
        resendable: await resendable(db, [...codes]),
      };
    },
    close: async () => {
      const db = await opened?.catch(() => undefined);
      await db?.close();
    },
  };
}
