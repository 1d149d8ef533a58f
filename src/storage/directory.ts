/**
 * Entry point of `storage/directory/`: clients and users. Production code outside `storage/` imports only this file,
 * `sealing.ts` and `rate-override.ts`.
 */
import type { Connection } from 'mongoose';
import type { Clock } from '../concurrency/timing';
import { foldedLog, type LogLine } from '../infra/folded-log';
import type { Logger } from '../infra/logger';
import {
  type ClientPause,
  type ClientRecord,
  type ClientSecret,
  clientModel,
  type QueryKey,
} from './directory/client-model';
import { checkRateOverride, type RateOverride } from './directory/rate-override';
import type { KeyRing } from './directory/sealing';
import { createTtlCache } from './directory/ttl-cache';

export * from './directory/client-admin';
export * from './directory/client-model';
export * from './directory/query-keys';
export * from './directory/rotate-keys';
export * from './directory/secret-uses';
export * from './directory/user-admin';
export * from './directory/user-model';
export * from './directory/users';

/** Maximum age of the cached clients, in milliseconds. If the database is slow, the cache raises this maximum. */
const CACHE_TTL = 1_000;
const MAX_CLIENTS = 10_000;

const TOO_MANY = {
  level: 'error',
  text: 'too many clients: this process has not loaded the newest clients',
} as const;
const UNREADABLE = { level: 'error', text: 'could not read a client record' } as const;
const NOT_DECRYPTED = {
  level: 'error',
  text: 'could not decrypt a secret',
  maxPerSecond: 20,
} as const;
const MAX_NAMED = 20;

export interface UsableSecret {
  readonly id: string;
  readonly secret: string;
  /** Present if the secret is a query key. */
  readonly queryKey?: QueryKeyTerms;
}

export interface QueryKeyTerms {
  readonly mayPush: boolean;
  /** True: answers to requests with this key omit titles, summaries, contents, payloads and stored bodies. */
  readonly noBodies?: boolean;
  /** Epoch milliseconds. */
  readonly endsAt: number;
}

export interface KnownClient {
  readonly clientId: string;
  readonly type: ClientRecord['type'];
  readonly enabled: boolean;
  readonly systemCode: string | null;
  /** The valid secrets, then the valid query keys. Secrets and keys that cannot be decrypted are absent. */
  readonly secrets: readonly UsableSecret[];
  readonly paused?: ClientPause;
  /** Absent: RATE_LIMIT and RATE_BURST apply. */
  readonly limit?: RateOverride;
}

export interface ClientDirectory {
  /** The result can be up to one second old. If the database is slow, the result can be up to five seconds old. */
  find(clientId: string): Promise<KnownClient | undefined>;
  /** Reads the database. If calls are too frequent, `findFresh` does the same as `find`. */
  findFresh(clientId: string): Promise<KnownClient | undefined>;
  /**
   * The largest number of usable secrets and query keys of one client. A wrong signature is compared with at least
   * this number of signatures, because the duration must not reveal which clients exist.
   */
  maxSecretCount(): number;
}

/** Each read loads all clients, so that the duration of a lookup does not reveal existing client ids. */
export function createClientDirectory(
  connection: Connection,
  keyRing: KeyRing,
  clock: Clock,
  logger: Logger,
): ClientDirectory {
  const model = clientModel(connection);
  const log = foldedLog(logger);
  const startRead = createSecretOpener(keyRing, log);
  let maxSecretCount = 0;
  const load = async () => {
    const records = await model
      .find()
      .sort({ createdAt: 1, _id: 1 })
      .limit(MAX_CLIENTS + 1)
      .lean();
    if (records.length > MAX_CLIENTS) log(TOO_MANY, { max: MAX_CLIENTS });
    const open = startRead();
    const now = clock();
    const known = new Map<string, KnownClient>();
    const errors = new Map<string, string>();
    for (const record of records.slice(0, MAX_CLIENTS)) {
      try {
        known.set(record._id, toKnownClient(record, open, now));
      } catch (error) {
        // One invalid record must not make the other clients unknown.
        errors.set(record._id, String(error));
      }
    }
    if (errors.size > 0) {
      const clientIds = [...errors.keys()].slice(0, MAX_NAMED);
      const [error] = errors.values();
      log(UNREADABLE, { clients: errors.size, clientIds, error });
    }
    maxSecretCount = Math.max(0, ...[...known.values()].map(({ secrets }) => secrets.length));
    return known;
  };
  const clients = createTtlCache(load, { ttl: CACHE_TTL, clock });
  return {
    find: async (clientId) => (await clients.get()).get(clientId),
    findFresh: async (clientId) => (await clients.getFresh()).get(clientId),
    maxSecretCount: () => maxSecretCount,
  };
}

type OpenSecret = (
  secret: Pick<ClientSecret, 'id' | 'sealed'>,
  clientId: string,
) => readonly UsableSecret[];

/** Each read of the clients decrypts only new secrets. */
function createSecretOpener(keyRing: KeyRing, log: LogLine): () => OpenSecret {
  const openOne: OpenSecret = ({ id, sealed }, clientId) => {
    try {
      return [{ id, secret: keyRing.open(sealed, clientId) }];
    } catch (error) {
      log(NOT_DECRYPTED, { clientId, secretId: id, error: String(error) });
      return [];
    }
  };
  let opened = new Map<string, readonly UsableSecret[]>();
  return () => {
    const before = opened;
    opened = new Map();
    return (secret, clientId) => {
      // Without `clientId` in `key`, the cache would accept a sealed secret that was copied from a different client.
      const key = JSON.stringify([clientId, secret.id, secret.sealed]);
      const usable = before.get(key) ?? openOne(secret, clientId);
      opened.set(key, usable);
      return usable;
    };
  };
}

function toKnownClient(record: ClientRecord, open: OpenSecret, now: number): KnownClient {
  const { _id: clientId, type, enabled, systemCode, secrets, queryKeys = [] } = record;
  const isAlive = ({ expiresAt }: ClientSecret | QueryKey) =>
    !expiresAt || expiresAt.getTime() > now;
  const openKey = (key: QueryKey): UsableSecret[] => {
    const queryKey = {
      mayPush: key.mayPush === true,
      endsAt: key.expiresAt.getTime(),
      ...(key.noBodies && { noBodies: true }),
    };
    return open(key, clientId).map((opened) => ({ ...opened, queryKey }));
  };
  return {
    clientId,
    type,
    enabled,
    systemCode,
    secrets: [
      ...secrets.filter(isAlive).flatMap((secret) => open(secret, clientId)),
      ...queryKeys.filter(isAlive).flatMap(openKey),
    ],
    ...(record.paused && { paused: record.paused }),
    ...(record.limit && { limit: checkRateOverride(record.limit) }),
  };
}
