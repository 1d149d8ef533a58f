/** What operators do with clients. Used by matterctl and by the demo of `npm start`. */
import type { Connection, Model, UpdateQuery } from 'mongoose';
import { type ClientRecord, type ClientSecret, clientModel } from './client-model';
import { mintSecret } from './clients';
import type { KeyRing } from './sealing';

const CLIENT_ID = /^[\x21-\x7e]{1,64}$/;
const SYSTEM_CODE = /^[A-Za-z0-9_.-]{1,64}$/;
/** Why a client is paused: it stands in answers and in tables. */
const PAUSE_REASON = /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u;

/** A request that cannot be carried out; the message says why and what to do. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';
}

export interface NewClient {
  readonly clientId: string;
  readonly systemCode: string | null;
  readonly type?: ClientRecord['type'];
}

/** A client as operators see it: never a secret. */
export type ClientView = Omit<ClientRecord, '_id' | 'secrets'> & {
  readonly clientId: string;
  readonly secrets: readonly Omit<ClientSecret, 'sealed'>[];
};

export interface ClientAdmin {
  /**
   * @returns the plain secret, for the only time; null for a PUBLIC client, which gets none
   * @throws DirectoryError where the id is taken or malformed
   */
  create(client: NewClient): Promise<{ secret: string | null }>;
  list(): Promise<ClientView[]>;
  /** @throws DirectoryError where there is no such client */
  setEnabled(clientId: string, enabled: boolean): Promise<void>;
  /**
   * From now on its pushes are answered 503 `CLIENT_PAUSED`, until `resume`.
   *
   * @param reason told to the client, at most 200 characters
   * @throws DirectoryError where there is no such client, or the reason is too long
   */
  pause(clientId: string, reason?: string): Promise<void>;
  /** @throws DirectoryError where there is no such client */
  resume(clientId: string): Promise<void>;
  /**
   * Gives a client a new secret; the current one keeps working for `overlap` milliseconds, any
   * older one ends at once.
   *
   * @throws DirectoryError where there is no such client, or it is PUBLIC
   */
  rotate(clientId: string, overlap: number): Promise<{ secret: string; oldEndsAt: Date }>;
}

export function createClientAdmin(
  connection: Connection,
  keyRing: KeyRing,
  clock: () => number,
): ClientAdmin {
  const model = clientModel(connection);
  const change = async (clientId: string, to: UpdateQuery<ClientRecord>) => {
    const { matchedCount } = await model.updateOne({ _id: clientId }, to);
    if (matchedCount === 0) throw unknownClient(clientId);
  };
  return {
    create: (client) => create(model, keyRing, client, clock()),
    list: async () => (await model.find().sort({ _id: 1 }).lean<ClientRecord[]>()).map(toView),
    setEnabled: (clientId, enabled) => change(clientId, { $set: { enabled } }),
    pause: async (clientId, reason) => {
      if (reason !== undefined && !PAUSE_REASON.test(reason)) {
        throw new DirectoryError('the reason must be one line of 1 to 200 characters');
      }
      const paused = { since: new Date(clock()), ...(reason !== undefined && { reason }) };
      await change(clientId, { $set: { paused } });
    },
    resume: (clientId) => change(clientId, { $unset: { paused: 1 } }),
    rotate: (clientId, overlap) => rotate(model, keyRing, clientId, { overlap, now: clock() }),
  };
}

async function create(
  model: Model<ClientRecord>,
  keyRing: KeyRing,
  { clientId, systemCode, type = 'CONFIDENTIAL' }: NewClient,
  now: number,
): Promise<{ secret: string | null }> {
  if (!CLIENT_ID.test(clientId)) {
    throw new DirectoryError('the client id must be 1 to 64 printable ASCII characters, no spaces');
  }
  if (systemCode !== null && !SYSTEM_CODE.test(systemCode)) {
    throw new DirectoryError('the system code must be 1 to 64 of A-Z a-z 0-9 _ . -');
  }
  const minted = type === 'CONFIDENTIAL' ? mintSecret(clientId, keyRing, now) : undefined;
  const secrets = minted ? [minted.stored] : [];
  const createdAt = new Date(now);
  const record = { _id: clientId, type, systemCode, enabled: true, secrets, createdAt };
  await model.create(record).catch((error) => {
    if (error.code !== 11000) throw error;
    throw new DirectoryError(
      `client ${clientId} exists already; "client rotate" gives it a new secret`,
    );
  });
  return { secret: minted?.secret ?? null };
}

async function rotate(
  model: Model<ClientRecord>,
  keyRing: KeyRing,
  clientId: string,
  { overlap, now }: { overlap: number; now: number },
): Promise<{ secret: string; oldEndsAt: Date }> {
  const record = await model.findById(clientId).lean();
  if (!record) throw unknownClient(clientId);
  if (record.type === 'PUBLIC') throw new DirectoryError(`client ${clientId} is PUBLIC: no secret`);
  const { secret, stored } = mintSecret(clientId, keyRing, now);
  const oldEndsAt = new Date(now + overlap);
  const [current] = record.secrets;
  const retiring = current ? [{ ...current, expiresAt: oldEndsAt }] : [];
  // Names the secret that was read: of two rotations at once, one finds it gone.
  const { matchedCount } = await model.updateOne(
    { _id: clientId, ...(current && { 'secrets.0.id': current.id }) },
    { $set: { secrets: [stored, ...retiring] } },
  );
  if (matchedCount === 0)
    throw new DirectoryError(`client ${clientId} was rotated meanwhile; retry`);
  return { secret, oldEndsAt };
}

function toView({ _id, secrets, ...rest }: ClientRecord): ClientView {
  return { clientId: _id, ...rest, secrets: secrets.map(({ sealed: _sealed, ...kept }) => kept) };
}

const unknownClient = (clientId: string) => new DirectoryError(`there is no client ${clientId}`);
