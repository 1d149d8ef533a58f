/** Puts the clients' secrets and query keys under the first key of the ring, so that an older key can be taken away. */
import type { Connection, Model } from 'mongoose';
import type { Clock } from '../../concurrency/clock';
import { type ClientRecord, type ClientSecret, clientModel, type QueryKey } from './client-model';
import { type KeyRing, keyIdOf } from './sealing';

export interface Resealed {
  /** Id of the key that seals. */
  readonly keyId: string;
  /** Secrets that were put under it. */
  readonly resealed: number;
  /** By key id, secrets that work and are under another key still; empty: only `keyId` is needed. */
  readonly left: Readonly<Record<string, number>>;
}

export interface ResealProgress {
  readonly resealed: number;
  /** Of this run. */
  readonly total: number;
}

/** Whom a rotation moves under the hands of one look, the next one finds. */
const LOOKS = 3;

/**
 * One secret after the other; each works before and after. Safe to break off, to run again and to run
 * beside rotations. Secrets that have ended are moved too: a diagnosis tells by them that one was used.
 *
 * A secret whose key is not in the ring is left, and told in `left` unless it has ended; so is what a
 * process with another first key has sealed meanwhile.
 */
export async function resealSecrets(
  connection: Connection,
  { keyRing, clock }: { readonly keyRing: KeyRing; readonly clock: Clock },
  onProgress: (progress: ResealProgress) => void = () => undefined,
): Promise<Resealed> {
  const model = clientModel(connection);
  const { sealingKey: keyId } = keyRing;
  const findOthers = async () =>
    (await findAll(model, clock())).filter(({ sealed }) => keyIdOf(sealed) !== keyId);
  let resealed = 0;
  let others = await findOthers();
  for (let look = 0; look < LOOKS && others.length > 0; look += 1) {
    const total = resealed + others.length;
    for (const secret of others) {
      if (await reseal(model, keyRing, secret)) resealed += 1;
      onProgress({ resealed, total });
    }
    others = await findOthers();
  }
  return { keyId, resealed, left: countByKey(others.filter(({ hasEnded }) => !hasEnded)) };
}

/** A secret and where it stands. */
interface Found {
  readonly clientId: string;
  /** The path of its place in the record. */
  readonly place: string;
  readonly id: string;
  readonly sealed: string;
  readonly hasEnded: boolean;
}

async function findAll(model: Model<ClientRecord>, now: number): Promise<Found[]> {
  const records = await model.find().sort({ _id: 1 }).lean();
  return records.flatMap(({ _id: clientId, secrets, queryKeys = [] }) => {
    const find = (list: string) => (held: ClientSecret | QueryKey, index: number) => {
      const hasEnded = (held.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY) <= now;
      return { clientId, place: `${list}.${index}`, id: held.id, sealed: held.sealed, hasEnded };
    };
    return [...secrets.map(find('secrets')), ...queryKeys.map(find('queryKeys'))];
  });
}

/** @returns whether it is under the first key now */
async function reseal(
  model: Model<ClientRecord>,
  keyRing: KeyRing,
  { clientId, place, id, sealed }: Found,
): Promise<boolean> {
  const anew = sealAnew(keyRing, sealed, clientId);
  if (anew === undefined) return false;
  // Only what was read is replaced: a rotation moves secrets and takes them away.
  const { matchedCount } = await model.updateOne(
    { _id: clientId, [`${place}.id`]: id, [`${place}.sealed`]: sealed },
    { $set: { [`${place}.sealed`]: anew } },
  );
  return matchedCount === 1;
}

function sealAnew(keyRing: KeyRing, sealed: string, clientId: string): string | undefined {
  try {
    return keyRing.seal(keyRing.open(sealed, clientId), clientId);
  } catch {
    // Its key is not in the ring, or the seal is broken: it does not work for the web process either.
    return undefined;
  }
}

function countByKey(secrets: readonly Found[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { sealed } of secrets) {
    const keyId = keyIdOf(sealed);
    counts.set(keyId, (counts.get(keyId) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}
