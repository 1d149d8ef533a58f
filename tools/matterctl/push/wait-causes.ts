/** Why a run waits, in one sentence: what stands still, and who can do something about it. */
import type { Rejection } from '../../client/error';
import { printable } from '../print';

/** Whom the sentence is about. */
export interface Pushing {
  readonly url: string;
  readonly clientId: string;
}

/** What is rejected with these lies in the service, for all lines alike. */
const SENTENCES: Readonly<Record<string, string>> = {
  DATABASE_UNAVAILABLE: "the service's database (MongoDB) does not answer",
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
/** Nobody is there: it lies in the address or the network, not in the line. */
const UNREACHABLE = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
];

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
