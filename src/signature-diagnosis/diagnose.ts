/**
 * Signature diagnosis: finds what went wrong with a request whose signature was rejected. Tries the known
 * ways to get it wrong; tells the cause, and never the signature that was expected.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../concurrency/clock';
import type { Diagnosis } from '../protocol/diagnosis';
import type { HeldSecret } from '../storage/directory/held-secrets';
import { type Finding, toFinding, unexplainedSoFar } from './causes';
import type { RejectedRequest } from './rejected-request';
import { search } from './search';
import { timestampFinding } from './timestamps';

export interface Bounds {
  /** Digests. */
  readonly most?: number;
  /** Milliseconds of work. */
  readonly time: number;
  /** Milliseconds that never jump. */
  readonly clock: Clock;
}

const MOST = 20_000;
/** Milliseconds of work between two pauses: others are served meanwhile. One step may take a little longer. */
const SLICE = 2;
const PAUSE = 4;
/** What a signature of this length is mostly. */
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

/** Diagnoses in one go. */
export function diagnose(
  request: RejectedRequest,
  secrets: readonly HeldSecret[],
  bounds: Bounds,
): Diagnosis {
  const work = begin(request, secrets, bounds);
  for (;;) {
    const diagnosis = work(bounds.time);
    if (diagnosis) return diagnosis;
  }
}

/** The same beside other work of the process. */
export async function diagnoseInSlices(
  request: RejectedRequest,
  secrets: readonly HeldSecret[],
  bounds: Bounds,
): Promise<Diagnosis> {
  const work = begin(request, secrets, bounds);
  for (;;) {
    const diagnosis = work(SLICE);
    if (diagnosis) return diagnosis;
    await pause(PAUSE);
  }
}

/** How a search came to its end: only one that ran out of time may come further when it is asked again. */
type SearchEnd = 'whole' | 'most tried' | 'out of time';

/** @returns works for so many milliseconds; gives the diagnosis once it is there */
function begin(
  request: RejectedRequest,
  secrets: readonly HeldSecret[],
  { most = MOST, time, clock }: Bounds,
): (slice: number) => Diagnosis | undefined {
  const steps = search(request, secrets);
  let tried = 0;
  let left = time;
  const end = (how: SearchEnd, found?: readonly Finding[]): Diagnosis => ({
    findings: findingsOf(request, secrets, found, how),
    tried,
    complete: how === 'whole',
  });
  return (slice) => {
    const from = clock();
    let spent = 0;
    while (spent < Math.min(slice, left)) {
      if (tried >= most) return end('most tried');
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
  { sent, body, receivedAt }: RejectedRequest,
  secrets: readonly HeldSecret[],
  found: readonly Finding[] | undefined,
  how: SearchEnd,
): readonly Finding[] {
  const ofTime = timestampFinding(sent.timestamp, receivedAt);
  const before = ofTime ? [ofTime] : [];
  if (found) return [...before, ...found];
  if (secrets.length === 0) return [...before, toFinding('NO_SECRET')];
  if (sent.length !== 64) {
    const length = LENGTHS[sent.length] ?? `it has ${sent.length}`;
    return [...before, toFinding('SIGNATURE_LENGTH', length)];
  }
  // Where the timestamp is no time, nothing could be tried, and that is what to mend first.
  if (sent.timestamp === undefined) return before;
  if (!body) return [...before, toFinding('BODY_NOT_KEPT')];
  // The same search comes as far again, but for the time that it is given.
  return [...before, how === 'out of time' ? unexplainedSoFar() : toFinding('UNEXPLAINED')];
}
