/** Why a run waits: its cause in one sentence, how the service is asked, and how often a wait is reported. */

import { queryPath, READY_PATH } from '../../../src/protocol/paths';
import type { Rejection } from '../../client/error';
import { exchange } from '../../client/exchange';
import type { Sender } from '../../client/sender';
import { UNREACHABLE } from '../../client/try-pushes';
import { envelopeOf } from '../../client/verdict';
import { noteAboveBar, printable } from '../print';
import type { Tool } from '../tool';

/** Whom the sentence of a cause is about. */
export interface Pushing {
  readonly url: string;
  readonly clientId: string;
}

/** What is rejected with these lies in the service, for all lines alike. */
const SENTENCES: Readonly<Record<string, string>> = {
  DATABASE_UNAVAILABLE: "the service's database (MongoDB) does not answer, or rejects writes",
  DATABASE_NOT_PREPARED: "the service's database is not prepared: the release step has to be run",
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
const OF_A_GATEWAY = ['HTTP_502', 'HTTP_503', 'HTTP_504'];
/** Whether a rejection says nothing about its line: it does not count as one of the line's tries. */
export function isOfTheService({ code, reason }: Pick<Rejection, 'code' | 'reason'>): boolean {
  return (
    code === RATE_LIMITED ||
    reason in SENTENCES ||
    // Of a version that knows more bounds than this one.
    (code === 503 && !reason.startsWith('HTTP_')) ||
    OF_A_GATEWAY.includes(reason) ||
    UNREACHABLE.includes(reason)
  );
}

/** @returns a sentence without its end, in lower case */
export function causeOf(rejection: Rejection, { url, clientId }: Pushing): string {
  const { code, reason } = rejection;
  const message = printable(rejection.message);
  if (code === RATE_LIMITED) return rateOf(rejection.rate, clientId);
  if (reason === PAUSED) {
    return `an operator has paused the client ${clientId} (${message}); matterctl queue resume ${clientId} ends it`;
  }
  const sentence = SENTENCES[reason];
  if (sentence !== undefined) return `${sentence} (${code} ${reason})`;
  if (OF_A_GATEWAY.includes(reason)) return `something before the service answers ${code}`;
  if (code === 0) return `the service at ${url} cannot be reached (${message})`;
  return `the service answers ${code} ${reason} (${message})`;
}

function rateOf(rate: number | undefined, clientId: string): string {
  const some = rate === undefined ? '' : ` of ${Math.round(rate * 10) / 10} pushes a second`;
  return `the client ${clientId} has used up its rate${some}; an operator raises it with: matterctl client limit ${clientId} --rate <pushes a second>`;
}

/** What answers a signed question by POST; `silent`: nothing that says which. */
export type PostReader = 'service' | 'elsewhere' | 'silent';

/** `down`: no answer, or one that says so; `other`: an answer that is not one of Matter Push. */
export type ServiceState = 'ready' | 'down' | 'other';

/** Milliseconds for the service to answer. */
const READY_TIMEOUT = 3_000;

/** Asks whether the service works, where a line alone cannot tell. @param url of the service */
export async function askService(url: string): Promise<ServiceState> {
  try {
    const answer = await exchange({
      ...{ method: 'GET', url: url + READY_PATH, timeout: READY_TIMEOUT },
    });
    if (answer.status >= 500) return 'down';
    const envelope = envelopeOf(answer);
    // Else the page of a gateway that does not let this path through.
    return envelope === undefined ? 'other' : envelope.code === 0 ? 'ready' : 'down';
  } catch {
    // No answer: the service is down, whatever the network calls it.
    return 'down';
  }
}

/** Whether the service answers a signed POST at this address, or something in front of it does. */
export async function askByPost(sender: Sender): Promise<PostReader> {
  try {
    const request = { path: queryPath('clients/me'), body: Buffer.from('{}') };
    const answer = await sender.send({ ...request, idempotencyKey: undefined });
    if (envelopeOf(answer)) return 'service';
    const { status } = answer;
    return status === 408 || status === RATE_LIMITED || status > 500 ? 'silent' : 'elsewhere';
  } catch {
    // No answer says nothing about who would have given it.
    return 'silent';
  }
}

/** Milliseconds between two lines about waits, whatever they say. */
const INTERVAL = 10_000;
/** Milliseconds until a cause is told again that slows the run down without stopping it. */
const SLOW_INTERVAL = 600_000;
/** Reports a run's waits, throttled, and no single retries. */
export interface WaitTeller {
  /** Nothing goes through. @param since, wait milliseconds that it lasts, and until the next try */
  standing(cause: string, since: number, wait: number): void;
  /** The run goes on more slowly. */
  slowed(cause: string): void;
}

/** @param clock milliseconds; it must not jump, as the time of day may */
export function createWaitTeller(
  { stderr }: Pick<Tool, 'stderr'>,
  clock: () => number = () => performance.now(),
): WaitTeller {
  let toldAt = Number.NEGATIVE_INFINITY;
  let slowedAt = Number.NEGATIVE_INFINITY;
  const tell = (line: string): boolean => {
    if (clock() - toldAt < INTERVAL) return false;
    toldAt = clock();
    noteAboveBar(stderr, line);
    return true;
  };
  return {
    standing: (cause, since, wait) => {
      const lasted = since < 1_000 ? '' : ` (for ${duration(since)})`;
      tell(`Waiting${lasted}: ${cause}. Trying again in ${duration(wait)}.`);
    },
    slowed: (cause) => {
      if (clock() - slowedAt < SLOW_INTERVAL) return;
      if (tell(`Slowed down: ${cause}.`)) slowedAt = clock();
    },
  };
}

/** Milliseconds in words: `40 s`, `12 min`, `3 h 5 min`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(Math.ceil(milliseconds / 1_000), 1);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
