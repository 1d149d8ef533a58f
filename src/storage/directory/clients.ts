/** Who may push, and with which secret. Read by the web process on every push, changed by operators. */
import { randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../../concurrency/clock';
import { foldedLog, type TellLine } from '../../runtime/folded-log';
import type { Logger } from '../../runtime/logger';
import {
  type ClientPause,
  type ClientRecord,
  type ClientSecret,
  clientModel,
  type QueryKey,
} from './client-model';
import { checkRateOverride, type RateOverride } from './rate-override';
import type { KeyRing } from './sealing';
import { createTtlCache } from './ttl-cache';

/** Milliseconds for which a web process caches the clients that it read. */
const CACHE_TTL = 1_000;
/** A portal has dozens of clients; all of them are kept in memory. */
const MAX_CLIENTS = 10_000;

/** The clients are read twice a second and more often during rejections: what is wrong with one is wrong each time. */
const TOO_MANY = {
  level: 'error',
  text: 'too many clients: the youngest ones are not known here',
} as const;
const UNREADABLE = { level: 'error', text: 'client cannot be read' } as const;
const UNRESOLVED = { level: 'error', text: 'secret cannot be resolved', most: 20 } as const;
/** Clients that one line names. */
const MAX_NAMED = 20;

export interface UsableSecret {
  readonly id: string;
  readonly secret: string;
  /** Absent: a secret of the client itself, which is good for everything. */
  readonly queryKey?: QueryKeyTerms;
}

/** What a query key is good for, and until when. */
export interface QueryKeyTerms {
  readonly mayPush: boolean;
  /** Epoch milliseconds. */
  readonly endsAt: number;
}

/** A client as the signature check needs it. */
export interface KnownClient {
  readonly clientId: string;
  readonly type: ClientRecord['type'];
  readonly enabled: boolean;
  readonly systemCode: string | null;
  /** The secrets that verify now, the current one first, and the query keys behind them. */
  readonly secrets: readonly UsableSecret[];
  /** Absent: its pushes are taken. */
  readonly paused?: ClientPause;
  /** Its own rate, where it has one. */
  readonly limit?: RateOverride;
}

export interface ClientDirectory {
  /** Looks a client up. The answer may be a second old. */
  find(clientId: string): Promise<KnownClient | undefined>;
  /**
   * The same, and read anew: before a rejection, so that a client or a secret of a moment ago is not rejected for
   * what was read before it. Where many are asked for, the answer may be a tenth of a second old.
   */
  findAnew(clientId: string): Promise<KnownClient | undefined>;
  /** Secrets and keys of the client that has most of them, as read last: what a rejection has to cost. */
  mostSecrets(): number;
}

/**
 * A directory for the web process. It reads all clients at once, twice a second and before a rejection, for
 * all who ask together: a stranger's id then costs what a known one costs. Beyond 10,000 clients the
 * youngest are unknown here, and the log says so.
 */
export function createClientDirectory(
  connection: Connection,
  keyRing: KeyRing,
  clock: Clock,
  logger: Logger,
): ClientDirectory {
  const model = clientModel(connection);
  const tell = foldedLog(logger);
  const startRead = createSecretOpener(keyRing, tell);
  let most = 0;
  const load = async () => {
    const records = await model
      .find()
      .sort({ createdAt: 1, _id: 1 })
      .limit(MAX_CLIENTS + 1)
      .lean();
    if (records.length > MAX_CLIENTS) tell(TOO_MANY, { max: MAX_CLIENTS });
    const open = startRead();
    const now = clock();
    const known = new Map<string, KnownClient>();
    const unreadable = new Map<string, unknown>();
    for (const record of records.slice(0, MAX_CLIENTS)) {
      try {
        known.set(record._id, toKnownClient(record, open, now));
      } catch (error) {
        // A record that was written by hand must not take the other clients with it.
        unreadable.set(record._id, error);
      }
    }
    tellUnreadable(tell, unreadable);
    most = Math.max(0, ...[...known.values()].map(({ secrets }) => secrets.length));
    return known;
  };
  const clients = createTtlCache(load, { ttl: CACHE_TTL, clock });
  return {
    find: async (clientId) => (await clients.get()).get(clientId),
    findAnew: async (clientId) => (await clients.getAnew()).get(clientId),
    mostSecrets: () => most,
  };
}

/** @param errors by client id */
function tellUnreadable(tell: TellLine, errors: ReadonlyMap<string, unknown>): void {
  const [first] = errors.values();
  if (errors.size === 0) return;
  const clientIds = [...errors.keys()].slice(0, MAX_NAMED);
  tell(UNREADABLE, { clients: errors.size, clientIds, error: String(first) });
}

type OpenSecret = (
  secret: Pick<ClientSecret, 'id' | 'sealed'>,
  clientId: string,
) => readonly UsableSecret[];

/**
 * Secrets are opened once, not at every read. What one read did not use is forgotten with the next.
 *
 * @returns to be called for each read of the clients
 */
function createSecretOpener(keyRing: KeyRing, tell: TellLine): () => OpenSecret {
  /** One that cannot be opened (its key left SECRET_KEYS) must not take the other with it. */
  const openOne: OpenSecret = ({ id, sealed }, clientId) => {
    try {
      return [{ id, secret: keyRing.open(sealed, clientId) }];
    } catch (error) {
      tell(UNRESOLVED, { clientId, secretId: id, error: String(error) });
      return [];
    }
  };
  let opened = new Map<string, readonly UsableSecret[]>();
  return () => {
    const before = opened;
    opened = new Map();
    return (secret, clientId) => {
      // With its client: a seal that was moved to another client must be tried, and fail.
      const key = JSON.stringify([clientId, secret.id, secret.sealed]);
      const usable = before.get(key) ?? openOne(secret, clientId);
      opened.set(key, usable);
      return usable;
    };
  };
}

function toKnownClient(record: ClientRecord, open: OpenSecret, now: number): KnownClient {
  const isAlive = ({ expiresAt }: ClientSecret | QueryKey) =>
    !expiresAt || expiresAt.getTime() > now;
  const openKey = (key: QueryKey) =>
    open(key, record._id).map((opened) => ({ ...opened, queryKey: termsOf(key) }));
  return {
    clientId: record._id,
    type: record.type,
    enabled: record.enabled,
    systemCode: record.systemCode,
    secrets: [
      ...record.secrets.filter(isAlive).flatMap((secret) => open(secret, record._id)),
      ...(record.queryKeys ?? []).filter(isAlive).flatMap(openKey),
    ],
    ...(record.paused && { paused: record.paused }),
    ...(record.limit && { limit: checkRateOverride(record.limit) }),
  };
}

const termsOf = ({ mayPush, expiresAt }: QueryKey): QueryKeyTerms => ({
  mayPush: mayPush === true,
  endsAt: expiresAt.getTime(),
});

/** A new random secret and its sealed form. The plain one is shown once and never stored. */
export function mintSecret(
  clientId: string,
  keyRing: KeyRing,
  now: number,
): { secret: string; stored: ClientSecret } {
  const secret = randomBytes(32).toString('base64url');
  const id = randomBytes(6).toString('hex');
  const sealed = keyRing.seal(secret, clientId);
  return { secret, stored: { id, sealed, createdAt: new Date(now), expiresAt: null } };
}
