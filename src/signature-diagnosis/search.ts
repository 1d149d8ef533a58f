/** Looks for what a caller did otherwise, so that it came to the signature that it sent. */
import type { HeldSecret } from '../storage/directory/held-secrets';
import { type Cause, type Finding, toFinding } from './causes';
import { differenceOf } from './difference';
import { formOf, HMAC_SHA256, isSent } from './digests';
import type { KeyVariant } from './keys';
import type { RejectedRequest } from './rejected-request';
import { fill, RIGHT } from './signing-texts';
import { timestampFinding } from './timestamps';
import { type Deviation, trialsOf } from './trials';

/** Findings, the most telling first; a step each time that a digest was made, or only a body (false). */
export type Search = Generator<boolean, readonly Finding[] | undefined>;

/**
 * The caller that asks for the next step decides how long it takes; nothing but the given request and
 * secrets is read.
 *
 * @returns (the generator) the mistakes that together explain the signature; undefined where none do
 */
export function* search(request: RejectedRequest, secrets: readonly HeldSecret[]): Search {
  const { sent } = request;
  if (secrets.some(({ secret }) => isSent(secret, sent))) return [toFinding('SIGNATURE_IS_SECRET')];
  const { keys, deviations } = trialsOf(request, secrets);
  for (const deviation of deviations) {
    if (!deviation) {
      yield false;
      continue;
    }
    for (const key of deviation.key ? [deviation.key] : keys) {
      const digest = digestOf(request, deviation, key);
      if (!digest) continue;
      yield true;
      const form = formOf(digest, sent);
      if (form) return findingsOf(request, deviation, form);
    }
  }
  return undefined;
}

/** @returns undefined where what it is made of is not known */
function digestOf(
  { clientId, sent, body: received, path }: RejectedRequest,
  { text: other, time, body, algorithm = HMAC_SHA256 }: Deviation,
  { key, secret }: KeyVariant,
): Buffer | undefined {
  const text = other ?? RIGHT;
  const bytes = body ? body.bytes : received;
  const stamp = time ? time.time : sent.timestamp;
  if ((text.hasBody && !bytes) || stamp === undefined) return undefined;
  const operation = path.slice(path.lastIndexOf('/') + 1);
  const signed = { client: clientId, time: stamp, path, operation, secret };
  const before = fill(text.before, signed);
  const parts = text.hasBody && bytes ? [before, bytes, fill(text.after, signed)] : [before];
  return algorithm.digest(key, parts);
}

interface Named {
  readonly cause: Cause | undefined;
  readonly how?: string;
}

function findingsOf(
  { body: received, sent, receivedAt }: RejectedRequest,
  { key, text, time, body, algorithm }: Deviation,
  form: Named,
): readonly Finding[] {
  const named = ({ cause, how }: Partial<Named> = {}) => (cause ? [toFinding(cause, how)] : []);
  const parted = body?.isWriting && received && differenceOf(received, body.bytes);
  const found = [
    ...named(key),
    ...named(text),
    ...named(time),
    ...named(algorithm),
    ...named(form),
    ...(body ? [toFinding(body.cause, body.how, parted || undefined)] : []),
  ];
  const isExplained = found.length > 0 || timestampFinding(sent.timestamp, receivedAt);
  return isExplained ? found : [toFinding('SIGNATURE_RIGHT')];
}
