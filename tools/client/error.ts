/** The one error of the client: the service's rejections, and what kept a call from being answered. */
import type { FieldError } from './answers';

/** Why a call has no success. */
export interface Rejection {
  /** The envelope's code; the HTTP status where the answer is not the service's; 0: no answer. */
  readonly code: number;
  /** A reason of the service, else `HTTP_<status>`, an error code of the system, or one of `OWN`. */
  readonly reason: string;
  readonly message: string;
  /** Whether the same call, with the same idempotency key, may succeed later. */
  readonly retryable: boolean;
  /** Finds the request in the push log; null: the service did not answer. */
  readonly requestId: string | null;
  /** Every problem of the body. */
  readonly errors: readonly FieldError[];
  /** Milliseconds that the service asks to wait. */
  readonly retryAfter: number | undefined;
  /** Pushes per second that the client may send, where the answer tells it (RateLimit-Policy). */
  readonly rate?: number | undefined;
}

/** How reasons of answers begin that something other than the service gave. */
export const ELSEWHERE = 'HTTP_';

/** Whether something other than the service gave this answer. */
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

/** Why the client itself ends a call. */
export const OWN = {
  /** Over its deadline. Where a try was under way, nobody knows what became of it. */
  TIMED_OUT: own('NO_ANSWER_IN_TIME', 'no answer in time'),
  ABORTED: own('ABORTED', 'given up by its caller'),
  CLOSED: own('CLOSED', 'the client is closed'),
  QUEUE_FULL: own('QUEUE_FULL', 'too many calls wait for their turn'),
};

/** HTTP takes blanks off the ends of a header: in a batch such a key would be another one than alone. */
const KEY_MESSAGE = 'must not begin or end with a blank';
const INVALID_KEY: Rejection = {
  ...own('INVALID_KEY', `idempotencyKey: ${KEY_MESSAGE}`),
  retryable: false,
  errors: [{ field: 'idempotencyKey', message: KEY_MESSAGE }],
};

/** @returns why nothing is sent with this key; undefined: it may be */
export const keyProblem = (idempotencyKey: string): MatterPushError | undefined =>
  /^ | $/.test(idempotencyKey)
    ? new MatterPushError(INVALID_KEY, { tries: 0, idempotencyKey })
    : undefined;

export interface ErrorContext {
  /** How often it was sent. */
  readonly tries: number;
  readonly idempotencyKey: string | undefined;
  /** Of what the client itself ended: the rejection of the last try. */
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
  /** To be sent again with: should it have been applied after all, that changes nothing. */
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
