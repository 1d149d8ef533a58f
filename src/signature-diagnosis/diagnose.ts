/**
 * Entry point of the signature diagnosis. The search tries known mistakes of callers. The diagnosis must never reveal
 * the expected signature.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../concurrency/timing';
import type { Mutex } from '../concurrency/turns';
import type { Diagnosis } from '../protocol/log-page';
import type { FindStoredSecrets, StoredSecret } from '../storage/directory';
import type { LogEntry } from '../storage/push-log';
import { type CauseFinding, toFinding, unexplainedSoFar } from './causes';
import { rejectedRequest, type SignatureRejection, search } from './search';
import { timestampFinding } from './timestamps';

/** @returns undefined for entries without a rejected signature or timestamp */
export type DiagnoseEntry = (
  entry: LogEntry,
  body: Uint8Array | undefined,
) => Promise<Diagnosis | undefined>;

/** @param mutex runs all diagnoses of the process one after another */
export function createDiagnoseEntry(
  findSecrets: FindStoredSecrets,
  bounds: Bounds,
  mutex: Mutex,
): DiagnoseEntry {
  return async (entry, body) => {
    const request = rejectedRequest(entry, body);
    if (!request) return undefined;
    const secrets = await findSecrets(entry.clientId);
    return mutex(() => diagnoseInSlices(request, secrets, bounds));
  };
}

export interface Bounds {
  readonly maxDigests?: number;
  /** Maximum milliseconds of work, measured by `clock`. */
  readonly time: number;
  /** Monotonic milliseconds, for example the processor time of the process. */
  readonly clock: Clock;
}

const MAX_DIGESTS = 20_000;
/** Milliseconds of work between two pauses. */
const SLICE = 2;
/** Milliseconds of a pause. */
const PAUSE = 4;
/** Explanations of wrong signature lengths, by number of characters. */
const LENGTHS: Readonly<Record<number, string>> = {
  28: 'it is as long as SHA-1 in base64',
  32: 'it is as long as MD5 in hex',
  40: 'it is as long as SHA-1 in hex',
  43: 'it is as long as a digest in base64',
  44: 'it is as long as a digest in base64',
  88: 'it is as long as SHA-512 in base64',
  96: 'it is as long as SHA-384 in hex',
  128: 'it is as long as SHA-512 in hex',
};

/** Diagnoses without pauses; only tests use this function. */
export function diagnose(
  request: SignatureRejection,
  secrets: readonly StoredSecret[],
  bounds: Bounds,
): Diagnosis {
  const work = startSearch(request, secrets, bounds);
  for (;;) {
    const diagnosis = work(bounds.time);
    if (diagnosis) return diagnosis;
  }
}

export async function diagnoseInSlices(
  request: SignatureRejection,
  secrets: readonly StoredSecret[],
  bounds: Bounds,
): Promise<Diagnosis> {
  const work = startSearch(request, secrets, bounds);
  for (;;) {
    const diagnosis = work(SLICE);
    if (diagnosis) return diagnosis;
    await pause(PAUSE);
  }
}

/**
 * - `whole`: the search found the cause or tried all mistakes.
 * - `most tried`: the search reached `Bounds.maxDigests`.
 * - `out of time`: the search reached `Bounds.time`.
 */
type SearchEnd = 'whole' | 'most tried' | 'out of time';

/**
 * Each call of the returned function continues the search for about `slice` milliseconds. The call returns undefined
 * if the search has not ended.
 */
function startSearch(
  request: SignatureRejection,
  secrets: readonly StoredSecret[],
  { maxDigests = MAX_DIGESTS, time, clock }: Bounds,
): (slice: number) => Diagnosis | undefined {
  const steps = search(request, secrets);
  let tried = 0;
  let left = time;
  const end = (searchEnd: SearchEnd, found?: readonly CauseFinding[]): Diagnosis => ({
    findings: findingsOf(request, secrets, found, searchEnd),
    tried,
    complete: searchEnd === 'whole',
  });
  return (slice) => {
    const from = clock();
    let spent = 0;
    while (spent < Math.min(slice, left)) {
      if (tried >= maxDigests) return end('most tried');
      const step = steps.next();
      if (step.done) return end('whole', step.value);
      if (step.value) tried += 1;
      spent = clock() - from;
    }
    left -= spent;
    return left > 0 ? undefined : end('out of time');
  };
}

function findingsOf(
  { sent, body, receivedAt }: SignatureRejection,
  secrets: readonly StoredSecret[],
  found: readonly CauseFinding[] | undefined,
  searchEnd: SearchEnd,
): readonly CauseFinding[] {
  const timeFinding = timestampFinding(sent.timestamp, receivedAt);
  if (found) {
    const isRepeated = found.some(({ cause }) => cause === timeFinding?.cause);
    return timeFinding && !isRepeated ? [timeFinding, ...found] : found;
  }
  const before = timeFinding ? [timeFinding] : [];
  if (secrets.length === 0) return [...before, toFinding('NO_SECRET')];
  if (sent.length !== 64) {
    const length = LENGTHS[sent.length] ?? `it has ${sent.length} characters`;
    return [...before, toFinding('SIGNATURE_LENGTH', length)];
  }
  // Without a timestamp, no digest can be computed.
  if (sent.timestamp === undefined) return before;
  if (!body) return [...before, toFinding('BODY_NOT_KEPT')];
  const isWhole = searchEnd === 'whole';
  return [
    ...before,
    isWhole ? toFinding('UNEXPLAINED') : unexplainedSoFar(searchEnd === 'out of time'),
  ];
}
