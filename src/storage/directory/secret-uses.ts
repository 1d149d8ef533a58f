/**
 * When each secret was used last, so that an operator who rotates one sees whether anybody still signs
 * with it. The web process notes uses in memory and writes them in the background: a push waits for none
 * of this and costs the database nothing.
 */
import type { Connection } from 'mongoose';
import type { Clock } from '../../concurrency/clock';
import { startPollLoop } from '../../concurrency/poll-loop';
import type { Logger } from '../../runtime/logger';

/** One for each secret that was ever used: some hundred bytes, never deleted. */
export interface SecretUse {
  /** Client id and secret id; there is no space in either. */
  readonly _id: string;
  readonly lastUsedAt: Date;
}

export interface SecretUses {
  /** Notes that a request was signed with a secret, just now. */
  note(use: { readonly clientId: string; readonly secretId: string }): void;
  /** Writes what is noted, where the database takes it, and ends. */
  stop(): Promise<void>;
}

/** Milliseconds between two looks at what is noted, lengthened by up to half at random. */
const INTERVAL = 1_000;
/** Milliseconds between two writes about one secret. */
const PAUSE = 60_000;

/**
 * The first use of a secret after a pause is written within two seconds, further ones once a minute.
 * So a process that is killed loses at most the last minute of what it has seen, one that drains
 * nothing. It remembers one date for each secret of the directory that was used.
 */
export function createSecretUses(connection: Connection, clock: Clock, logger: Logger): SecretUses {
  const noted = new Map<string, SecretUse>();
  /** Of the last minute: when a secret's use was written. */
  const written = new Map<string, number>();

  const write = async (uses: readonly SecretUse[]): Promise<void> => {
    if (uses.length === 0) return;
    // Of the beginning: what takes long is not to put the next one off.
    const at = clock();
    const writes = uses.map(({ _id, lastUsedAt }) => ({
      updateOne: { filter: { _id }, update: { $max: { lastUsedAt } }, upsert: true },
    }));
    await collectionOf(connection).bulkWrite(writes, { ordered: false });
    for (const use of uses) {
      written.set(use._id, at);
      // What was noted meanwhile is for the next time.
      if (noted.get(use._id) === use) noted.delete(use._id);
    }
  };
  const writeDue = (): Promise<void> => {
    const now = clock();
    for (const [id, at] of written) if (now - at >= PAUSE) written.delete(id);
    return write([...noted.values()].filter(({ _id }) => !written.has(_id)));
  };
  const onError = (error: unknown) =>
    logger.debug({ error: String(error) }, 'uses of secrets not written');
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

/** @returns to be asked for the last use of a secret; null: never, as far as is known */
export async function readSecretUses(
  connection: Connection,
): Promise<(clientId: string, secretId: string) => Date | null> {
  const uses = await collectionOf(connection).find({}).toArray();
  const byId = new Map(uses.map(({ _id, lastUsedAt }) => [_id, lastUsedAt]));
  return (clientId, secretId) => byId.get(useId(clientId, secretId)) ?? null;
}

/** @returns when secrets of one client were used last, by secret id; those never used are left out */
export async function readUsesOf(
  connection: Connection,
  clientId: string,
  secretIds: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const ids = new Map(secretIds.map((id) => [useId(clientId, id), id]));
  const uses = await collectionOf(connection)
    .find({ _id: { $in: [...ids.keys()] } })
    .toArray();
  return new Map(uses.map(({ _id, lastUsedAt }) => [ids.get(_id) ?? '', lastUsedAt]));
}

const useId = (clientId: string, secretId: string) => `${clientId} ${secretId}`;
const collectionOf = (connection: Connection) => connection.collection<SecretUse>('secret_uses');
