/**
 * The hashes of one body, each made once. Large bodies are hashed in slices: other requests have their turn
 * between two, however many secrets there are to try.
 */
import { createHash, type Hash, type Hmac } from 'node:crypto';
import { TimeSlice } from '../concurrency/time-slice';
import { matches, startDigest, verify } from '../protocol/signature';
import type { BodyDigest } from '../storage/push-log/entry-model';
import type { AuthHeaders } from './auth-headers';
import type { Secret, SignedBody } from './authenticate';

/** Bytes: a body of this size takes a fraction of a millisecond. */
const SLICE = 64 * 1024;

export interface HashedBody extends SignedBody {
  /**
   * Digest of a large body, once its signer was looked for, whether there is one or not. Undefined for a small
   * body: the one who needs its digest makes it.
   */
  readonly digest: () => BodyDigest | undefined;
}

/** @param headers whose signature has the form of one where `findSigner` is called */
export function createSignedBody(headers: AuthHeaders, rawBody: Uint8Array): HashedBody {
  return rawBody.length > SLICE ? largeBody(headers, rawBody) : smallBody(headers, rawBody);
}

function smallBody(
  { clientId, timestamp, signature }: AuthHeaders,
  rawBody: Uint8Array,
): HashedBody {
  const isSignedWith = remembered((secret) =>
    verify(secret, clientId, timestamp, rawBody, signature),
  );
  return {
    isLarge: false,
    findSigner: async (secrets) => secrets.find(({ secret }) => isSignedWith(secret)),
    digest: () => undefined,
  };
}

function largeBody(
  { clientId, timestamp, signature }: AuthHeaders,
  rawBody: Uint8Array,
): HashedBody {
  const slice = new TimeSlice();
  let digest: BodyDigest | undefined;
  const isSignedWith = remembered(async (secret) => {
    const hmac = startDigest(secret, clientId, timestamp);
    await hashInSlices(hmac, rawBody, slice);
    return matches(hmac.digest(), signature);
  });
  const findSigner = async (secrets: readonly Secret[]) => {
    if (!digest) {
      await slice.next();
      // For known and unknown clients alike: else the time of a rejection would tell them apart.
      digest = await digestOf(rawBody, slice);
    }
    for (const one of secrets) if (await isSignedWith(one.secret)) return one;
    return undefined;
  };
  return { isLarge: true, findSigner, digest: () => digest };
}

/** @returns the same answer for a secret that was asked before, without hashing the body again */
function remembered<T>(ask: (secret: string) => T): (secret: string) => T {
  const known = new Map<string, T>();
  return (secret) => {
    const answer = known.get(secret) ?? ask(secret);
    known.set(secret, answer);
    return answer;
  };
}

async function digestOf(rawBody: Uint8Array, slice: TimeSlice): Promise<BodyDigest> {
  const hash = createHash('sha256');
  await hashInSlices(hash, rawBody, slice);
  return { bodyHash: hash.digest('hex'), bodySize: rawBody.length };
}

async function hashInSlices(
  hash: Hash | Hmac,
  rawBody: Uint8Array,
  slice: TimeSlice,
): Promise<void> {
  for (let at = 0; at < rawBody.length; at += SLICE) {
    if (slice.isOver()) await slice.next();
    hash.update(rawBody.subarray(at, at + SLICE));
  }
}
