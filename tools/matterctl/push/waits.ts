/** Why a run waits: the sentence for a cause, requests that check the service, and the lines that report waits. */

import { queryPath, READY_PATH } from '../../../src/protocol/paths';
import type { Rejection } from '../../client/error';
import { exchange } from '../../client/exchange';
import type { Sender } from '../../client/sender';
import { UNREACHABLE } from '../../client/try-pushes';
import { envelopeOf } from '../../client/verdict';
import { noteAboveBar, printable } from '../print';
import type { Tool } from '../tool';

/** The names in a sentence. */
export interface Pushing {
  readonly url: string;
  readonly clientId: string;
}

/** Reasons of which the service is the cause, so that they concern all lines, with a sentence for each. */
const SENTENCES: Readonly<Record<string, string>> = {
  DATABASE_UNAVAILABLE: "the service's database (MongoDB) does not answer, or rejects writes",
  DATABASE_NOT_PREPARED:
    "the service's database is not prepared: an operator must run the release step",
  QUEUE_UNAVAILABLE: "the service's queue (Redis) does not answer, or takes no writes",
  QUEUE_MEMORY_FULL: "the service's queue (Redis) is at its maxmemory",
  BACKLOG_FULL:
    'the service has a backlog: a push would wait for more than half of PUSH_TIMEOUT behind others',
  PARTITION_FULL: 'the service has a backlog: PARTITION_LIMIT pushes wait in a partition',
  PARTITION_BYTES_FULL: 'the service has a backlog: PARTITION_BYTES of pushes wait in a partition',
  TOO_MANY_IN_FLIGHT: 'the service is at MAX_IN_FLIGHT: so many requests are under way in it',
  IN_FLIGHT_BYTES_FULL:
    'the service is at its bound for the bodies of requests under way (256 MiB)',
  CONFIRMATION_TIMEOUT: "the service's database does not confirm within PUSH_TIMEOUT",
  SHUTTING_DOWN: 'the service is being stopped',
};
const RATE_LIMITED = 429;
const PAUSED = 'CLIENT_PAUSED';
const GATEWAY_REASONS = ['HTTP_502', 'HTTP_503', 'HTTP_504'];
/** Whether the service is the cause of a rejection. Then the attempt does not count for the retries of the line. */
export function isOfTheService({ code, reason }: Pick<Rejection, 'code' | 'reason'>): boolean {
  return (
    code === RATE_LIMITED ||
    reason in SENTENCES ||
    // A reason that only a later version of the service has.
    (code === 503 && !reason.startsWith('HTTP_')) ||
    GATEWAY_REASONS.includes(reason) ||
    UNREACHABLE.includes(reason)
  );
}

/** The sentence for a rejection, in lower case and without a full stop. */
export function causeOf(rejection: Rejection, { url, clientId }: Pushing): string {
  const { code, reason } = rejection;
  const message = printable(rejection.message);
  if (code === RATE_LIMITED) return rateOf(rejection.rate, clientId);
  if (reason === PAUSED) {
    return `an operator has paused the client ${clientId} (${message}); matterctl queue resume ${clientId} ends it`;
  }
  const sentence = SENTENCES[reason];
  if (sentence !== undefined) return `${sentence} (${code} ${reason})`;
  if (GATEWAY_REASONS.includes(reason)) return `something before the service answers ${code}`;
  if (code === 0) return `the service at ${url} cannot be reached (${message})`;
  return `the service answers ${code} ${reason} (${message})`;
}

function rateOf(rate: number | undefined, clientId: string): string {
  const rateText = rate === undefined ? '' : ` of ${Math.round(rate * 10) / 10} pushes a second`;
  return `the client ${clientId} has used up its rate${rateText}; an operator raises it with: matterctl client limit ${clientId} --rate <pushes a second>`;
}

/** Who answers a signed POST: the service, or something else; `silent`: no answer that shows it. */
export type PostReader = 'service' | 'elsewhere' | 'silent';

/** `down`: the service does not answer or is not ready. `other`: the answer is not from Matter Push. */
export type ServiceState = 'ready' | 'down' | 'other';

/** Milliseconds for the service to answer. */
const READY_TIMEOUT = 3_000;

/** Checks whether the service is ready. @param url URL of the service */
export async function checkService(url: string): Promise<ServiceState> {
  try {
    const answer = await exchange({
      ...{ method: 'GET', url: url + READY_PATH, timeout: READY_TIMEOUT },
    });
    if (answer.status >= 500) return 'down';
    const envelope = envelopeOf(answer);
    // Without an envelope, it is the page of a gateway that does not pass this path on.
    return envelope === undefined ? 'other' : envelope.code === 0 ? 'ready' : 'down';
  } catch {
    // Without an answer, the service counts as down, whatever the network error is.
    return 'down';
  }
}

/** Checks whether the service itself answers a signed POST, or something before it. */
export async function checkPost(sender: Sender): Promise<PostReader> {
  try {
    const request = { path: queryPath('clients/me'), body: Buffer.from('{}') };
    const answer = await sender.send({ ...request, idempotencyKey: undefined });
    if (envelopeOf(answer)) return 'service';
    const { status } = answer;
    return status === 408 || status === RATE_LIMITED || status > 500 ? 'silent' : 'elsewhere';
  } catch {
    // Without an answer, it is unknown who would have answered.
    return 'silent';
  }
}

/** Minimum milliseconds between two lines about waits. */
const INTERVAL = 10_000;
/** Minimum milliseconds between two lines about a slower run. */
const SLOW_INTERVAL = 600_000;
/** Prints why a run waits, at most every ten seconds. It does not print single retries. */
export interface WaitReporter {
  /** The run stands still. @param since milliseconds since it does @param wait milliseconds until the next attempt */
  standing(cause: string, since: number, wait: number): void;
  /** The run continues more slowly. */
  slowed(cause: string): void;
}

/** @param clock a monotonic clock in milliseconds */
export function createWaitReporter(
  { stderr }: Pick<Tool, 'stderr'>,
  clock: () => number = () => performance.now(),
): WaitReporter {
  let printedAt = Number.NEGATIVE_INFINITY;
  let slowedAt = Number.NEGATIVE_INFINITY;
  const print = (line: string): boolean => {
    if (clock() - printedAt < INTERVAL) return false;
    printedAt = clock();
    noteAboveBar(stderr, line);
    return true;
  };
  return {
    standing: (cause, since, wait) => {
      const lasted = since < 1_000 ? '' : ` (for ${duration(since)})`;
      print(`Waiting${lasted}: ${cause}. Trying again in ${duration(wait)}.`);
    },
    slowed: (cause) => {
      if (clock() - slowedAt < SLOW_INTERVAL) return;
      if (print(`Slowed down: ${cause}.`)) slowedAt = clock();
    },
  };
}

/** Formats milliseconds as `40 s`, `12 min` or `3 h 5 min`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(Math.ceil(milliseconds / 1_000), 1);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
