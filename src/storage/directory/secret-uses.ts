/** Records when each secret was last used. */

import type { Connection } from 'mongoose';
import { type Clock, startPollLoop } from '../../concurrency/timing';
import type { Logger } from '../../infra/logger';

export interface SecretUse {
  /** Client id, a space, and secret id. Neither id contains spaces. */
  readonly _id: string;
  readonly lastUsedAt: Date;
}

export interface SecretUses {
  note(use: { readonly clientId: string; readonly secretId: string }): void;
  /** Stops, and tries once to write the remaining uses. */
  stop(): Promise<void>;
}

/** Minimum milliseconds between two runs of `writeDue`. */
const INTERVAL = 1_000;
/** After a write, `writeDue` skips the secret for this many milliseconds. */
const PAUSE = 60_000;

export function createSecretUses(connection: Connection, clock: Clock, logger: Logger): SecretUses {
  const noted = new Map<string, SecretUse>();
  /** Start of the last write in epoch milliseconds, by `SecretUse._id`. */
  const written = new Map<string, number>();

  const write = async (uses: readonly SecretUse[]): Promise<void> => {
    if (uses.length === 0) return;
    const at = clock();
    const writes = uses.map(({ _id, lastUsedAt }) => ({
      updateOne: { filter: { _id }, update: { $max: { lastUsedAt } }, upsert: true },
    }));
    await collectionOf(connection).bulkWrite(writes, { ordered: false });
    for (const use of uses) {
      written.set(use._id, at);
      // Keeps a use that was noted during the write.
      if (noted.get(use._id) === use) noted.delete(use._id);
    }
  };
  const writeDue = (): Promise<void> => {
    const now = clock();
    for (const [id, at] of written) if (now - at >= PAUSE) written.delete(id);
    return write([...noted.values()].filter(({ _id }) => !written.has(_id)));
  };
  const onError = (error: unknown) =>
    logger.debug({ error: String(error) }, 'could not write the last uses of secrets');
  const writing = startPollLoop(writeDue, INTERVAL, onError);

  return {
    note: ({ clientId, secretId }) => {
      const _id = useId(clientId, secretId);
      noted.set(_id, { _id, lastUsedAt: new Date(clock()) });
    },
    stop: async () => {
      await writing.stop();
      await write([...noted.values()]).catch(onError);
    },
  };
}

/** @param clientId restricts the uses to this client */
export async function readSecretUses(connection: Connection, clientId?: string) {
  const ofClient = { _id: { $gte: `${clientId} `, $lt: `${clientId}!` } };
  const uses = await collectionOf(connection)
    .find(clientId === undefined ? {} : ofClient)
    .toArray();
  const byId = new Map(uses.map(({ _id, lastUsedAt }) => [_id, lastUsedAt]));
  return (client: string, secretId: string): Date | null =>
    byId.get(useId(client, secretId)) ?? null;
}

const useId = (clientId: string, secretId: string) => `${clientId} ${secretId}`;
const collectionOf = (connection: Connection) => connection.collection<SecretUse>('secret_uses');
