/** The only error class of the client. It represents rejections of the service, and calls without an answer. */
import type { FieldError } from './answers';

/** The reason of a failed call. */
export interface Rejection {
  /** The code of the envelope, or the HTTP status if the answer is not from the service. 0: there was no answer. */
  readonly code: number;
  /** A reason of the service, `HTTP_<status>`, an error code of the system, or a reason in `OWN`. */
  readonly reason: string;
  readonly message: string;
  /** Whether the same call, with the same idempotency key, may succeed later. */
  readonly retryable: boolean;
  /** The id of the request in the push log; null if the service did not answer. */
  readonly requestId: string | null;
  /** All problems of the body. */
  readonly errors: readonly FieldError[];
  /** Milliseconds that the service requires before a retry. */
  readonly retryAfter: number | undefined;
  /** Pushes per second that the client may send, if the answer has the header RateLimit-Policy. */
  readonly rate?: number | undefined;
}

/** Prefix of the reason if the answer is not from the service, for example from a proxy. */
export const ELSEWHERE = 'HTTP_';

/** Whether the answer is not from the service. */
export const isFromElsewhere = ({ reason }: Pick<Rejection, 'reason'>) =>
  reason.startsWith(ELSEWHERE);

const own = (reason: string, message: string): Rejection => ({
  code: 0,
  reason,
  message,
  retryable: true,
  requestId: null,
  errors: [],
  retryAfter: undefined,
});

/** The rejections with which the client itself ends a call. */
export const OWN = {
  /** The deadline of the call has passed. If a try was running, its result is unknown. */
  TIMED_OUT: own('NO_ANSWER_IN_TIME', 'no answer in time'),
  ABORTED: own('ABORTED', 'given up by its caller'),
  CLOSED: own('CLOSED', 'the client is closed'),
  QUEUE_FULL: own('QUEUE_FULL', 'too many calls wait for their turn'),
};

/** HTTP removes blanks at the ends of a header. Such a key would differ between a batch and a single push. */
const KEY_MESSAGE = 'must not begin or end with a blank';
const INVALID_KEY: Rejection = {
  ...own('INVALID_KEY', `idempotencyKey: ${KEY_MESSAGE}`),
  retryable: false,
  errors: [{ field: 'idempotencyKey', message: KEY_MESSAGE }],
};

/** @returns the error if the key is invalid; undefined if it is valid */
export const keyProblem = (idempotencyKey: string): MatterPushError | undefined =>
  /^ | $/.test(idempotencyKey)
    ? new MatterPushError(INVALID_KEY, { tries: 0, idempotencyKey })
    : undefined;

export interface ErrorContext {
  /** Number of times that the request was sent. */
  readonly tries: number;
  readonly idempotencyKey: string | undefined;
  /** The rejection of the last try, if the client itself ended the call. */
  readonly cause?: unknown;
}

export class MatterPushError extends Error implements Rejection {
  override readonly name = 'MatterPushError';
  readonly code: number;
  readonly reason: string;
  readonly retryable: boolean;
  readonly requestId: string | null;
  readonly errors: readonly FieldError[];
  readonly retryAfter: number | undefined;
  readonly rate: number | undefined;
  readonly tries: number;
  /** Use this key to send the push again. If the service has applied the push, it only repeats the outcome. */
  readonly idempotencyKey: string | undefined;

  constructor(rejection: Rejection, { tries, idempotencyKey, cause }: ErrorContext) {
    super(rejection.message, { cause });
    this.code = rejection.code;
    this.reason = rejection.reason;
    this.retryable = rejection.retryable;
    this.requestId = rejection.requestId;
    this.errors = rejection.errors;
    this.retryAfter = rejection.retryAfter;
    this.rate = rejection.rate;
    this.tries = tries;
    this.idempotencyKey = idempotencyKey;
  }
}
