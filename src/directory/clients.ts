/** Who may push, and with which secret. Read by the ingress on every push, changed by operators. */
import { randomBytes } from 'node:crypto';
import type { Connection } from 'mongoose';
import { createBatcher } from '../batcher';
import type { Clock } from '../clock';
import type { Logger } from '../logger';
import { type ClientRecord, type ClientSecret, clientModel } from './client-model';
import type { KeyRing } from './sealing';
import { createTtlCache } from './ttl-cache';

/** How long an ingress believes what it read of a client, in milliseconds. */
const BELIEVED_FOR = 1_000;

export interface UsableSecret {
  readonly id: string;
  readonly secret: string;
}

/** A client as the signature check needs it. */
export interface KnownClient {
  readonly clientId: string;
  readonly type: ClientRecord['type'];
  readonly enabled: boolean;
  readonly systemCode: string | null;
  /** The secrets that verify now, the current one first. */
  readonly secrets: readonly UsableSecret[];
}

export interface ClientDirectory {
  /** Looks a client up; what it answers is at most a second old. */
  find(clientId: string): Promise<KnownClient | undefined>;
}

/** @returns a directory for the ingress: cached for a second, lookups batched */
export function createClientDirectory(
  connection: Connection,
  keyRing: KeyRing,
  clock: Clock,
  logger: Logger,
): ClientDirectory {
  const model = clientModel(connection);
  const lookups = createBatcher<string, ClientRecord | undefined>({
    run: async (ids) => {
      const records = await model.find({ _id: { $in: [...new Set(ids)] } }).lean();
      const byId = new Map(records.map((record) => [record._id, record]));
      return ids.map((id) => byId.get(id));
    },
    maxBatch: 500,
    maxRunning: 2,
  });
  /** One secret that cannot be opened (its key left SECRET_KEYS) must not take the other with it. */
  const openable: OpenSecret = ({ id, sealed }, clientId) => {
    try {
      return [{ id, secret: keyRing.open(sealed, clientId) }];
    } catch (error) {
      logger.error({ clientId, secretId: id, error: String(error) }, 'secret cannot be resolved');
      return [];
    }
  };
  const cache = createTtlCache(
    async (id) => {
      const record = await lookups.add(id);
      return record && toKnownClient(record, openable, clock());
    },
    { ttl: BELIEVED_FOR, maxEntries: 10_000, clock },
  );
  return { find: (clientId) => cache.get(clientId) };
}

type OpenSecret = (secret: ClientSecret, clientId: string) => UsableSecret[];

function toKnownClient(record: ClientRecord, open: OpenSecret, now: number): KnownClient {
  const alive = record.secrets.filter(
    ({ expiresAt }) => expiresAt === null || expiresAt.getTime() > now,
  );
  return {
    clientId: record._id,
    type: record.type,
    enabled: record.enabled,
    systemCode: record.systemCode,
    secrets: alive.flatMap((secret) => open(secret, record._id)),
  };
}

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
