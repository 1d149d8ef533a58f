/** Classifies an answer: success, final rejection or retryable rejection. */
import type { FieldError } from './answers';
import { ELSEWHERE, isFromElsewhere, type Rejection } from './error';
import type { HttpAnswer } from './exchange';
import {
  anything,
  isBoolean,
  isFilled,
  isNumber,
  isString,
  listOf,
  objectOf,
  optional,
} from './guards';

export interface Answered {
  readonly kind: 'answered';
  readonly data: unknown;
  readonly requestId: string;
  /** True if the service repeated the outcome of an earlier push with the same key and body. */
  readonly replayed: boolean;
}

export interface Rejected extends Rejection {
  readonly kind: 'rejected';
}

/** The fields that explain a rejection, in an envelope or in a line of the answer to a batch. */
export interface RejectionFields {
  readonly code: number;
  readonly message: string;
  readonly requestId: string | null;
  readonly reason?: string | undefined;
  readonly retryable?: boolean | undefined;
  readonly errors: readonly FieldError[];
  readonly warnings: readonly FieldError[];
}

const isEnvelope = objectOf({
  code: isNumber,
  message: anything,
  requestId: isFilled,
  timestamp: isString,
  reason: optional(isString),
  retryable: optional(isBoolean),
  data: anything,
  errors: anything,
  warnings: anything,
});
/** A list of problems or warnings of fields. */
export const areProblems = listOf(objectOf({ field: isString, message: isString }));

/**
 * Every answer of the service has these fields, except that a success has no `reason`. In a rejection, `data` is
 * null.
 */
interface AnyEnvelope extends RejectionFields {
  readonly requestId: string;
  readonly timestamp: string;
  readonly data: unknown;
}

/** Whether `data` of a success has the fields that the endpoint always returns. */
export type Confirms = (data: object) => boolean;

/** @returns the envelope; undefined if the text is no envelope, so the answer is not from the service */
export function envelopeOf({ text }: Pick<HttpAnswer, 'text'>): AnyEnvelope | undefined {
  const json = parseJson(text);
  if (!isEnvelope(json) || (json.code !== 0 && json.reason === undefined)) return undefined;
  const { code, requestId, timestamp, reason, retryable, data } = json;
  const message = isString(json.message) ? json.message : '';
  const lists = { errors: problemsOf(json.errors), warnings: problemsOf(json.warnings) };
  return { code, message, requestId, timestamp, reason, retryable, data, ...lists };
}

const problemsOf = (list: unknown): readonly FieldError[] =>
  areProblems(list) ? list.map(({ field, message }) => ({ field, message })) : [];

/** Maximum milliseconds of a wait that the service requires. Longer values are reduced to it. */
const MAX_RETRY_AFTER = 300_000;
const RATE_LIMITED = 429;
/** Milliseconds after which the signature of the same request differs, because its timestamp is in seconds. */
const NEXT_SIGNATURE = 1_000;

/** @param confirms check of the endpoint, because other services return `code: 0` too */
export function judge(answer: HttpAnswer, confirms: Confirms = () => true): Answered | Rejected {
  const envelope = envelopeOf(answer);
  if (!envelope) return isCutOff(answer) ? CUT_OFF : fromElsewhere(answer);
  const retryAfter = toMilliseconds(answer.retryAfter);
  if (envelope.code === 0) {
    const { data, requestId } = envelope;
    const isConfirmed = typeof data === 'object' && data !== null && confirms(data);
    if (!isConfirmed) return fromElsewhere(answer);
    return { kind: 'answered', data, requestId, replayed: answer.replayed };
  }
  const rate = toRate(answer.ratePolicy);
  return { ...toRejected(envelope, retryAfter), rate };
}

/** Whether the envelope is incomplete. Without a Content-Length, a lost connection looks like the end of the answer. */
const isCutOff = ({ text }: HttpAnswer) =>
  /^\s*\{\s*"code"\s*:/.test(text) && parseJson(text) === undefined;

const CUT_OFF: Rejected = {
  kind: 'rejected',
  code: 0,
  reason: 'ANSWER_CUT_OFF',
  message: 'the answer of the service has no end',
  requestId: null,
  errors: [],
  retryable: true,
  retryAfter: undefined,
};

/**
 * The rejection for an answer that is not from the service, for example from a proxy. The message names the address.
 */
export function fromElsewhere(answer: HttpAnswer): Rejected {
  const { url, status, location, text } = answer;
  const what =
    isRedirect(status) && location ? `redirect to ${location}` : text.slice(0, 200).trim();
  return {
    kind: 'rejected',
    code: status,
    reason: `${ELSEWHERE}${status}`,
    message: `the answer of ${url} is not one of Matter Push: status ${status}${what && `, ${what}`}`,
    requestId: null,
    errors: [],
    retryable: isTemporary(status),
    retryAfter: toMilliseconds(answer.retryAfter),
  };
}

const isRedirect = (status: number) => status >= 300 && status < 400;

/**
 * Statuses with which a gateway may reject one request because of its content or size. With every other status that
 * is not temporary, the gateway would reject any request.
 */
const OF_ONE_REQUEST = [400, 403, 406, 411, 412, 413, 414, 415, 417, 418, 422, 431, 451];

/** Whether any request to this address would get an answer that is not from the service. */
export const isElsewhereForAll = (rejection: Rejected) =>
  isFromElsewhere(rejection) && !rejection.retryable && !OF_ONE_REQUEST.includes(rejection.code);

/** @param retryAfter milliseconds that the service requires before a retry */
export function toRejected(fields: RejectionFields, retryAfter: number | undefined): Rejected {
  const { code, message, requestId, reason = `CODE_${code}`, errors, warnings } = fields;
  // Warnings are included, because a misspelt field is a warning and explains an error about a missing field.
  const details = [...errors, ...warnings]
    .map((error) => `${error.field}: ${error.message}`)
    .join('; ');
  return {
    kind: 'rejected',
    code,
    reason,
    message: details ? `${message} (${details})` : message,
    requestId,
    errors,
    retryable: fields.retryable ?? isTemporary(code),
    retryAfter: reason === 'SIGNATURE_REUSED' ? NEXT_SIGNATURE : retryAfter,
  };
}

/** The rejection for a request without a complete answer. @param error the error of the system or of Node */
export function noAnswer(error: NodeJS.ErrnoException): Rejected {
  return {
    kind: 'rejected',
    code: 0,
    reason: error.code ?? 'NETWORK_ERROR',
    // For a host with several addresses, Node throws an AggregateError without a message.
    message: error.message || (error.code ?? error.name),
    requestId: null,
    errors: [],
    // A TypeError means an invalid header: the request was not sent, and a retry would fail too.
    retryable: error.name !== 'TypeError',
    retryAfter: undefined,
  };
}

/** Whether the rate limit rejected the request. It applies to all calls of the client. */
export const isRateLimit = ({ code }: Rejected) => code === RATE_LIMITED;

const isTemporary = (code: number) => code === 408 || code === RATE_LIMITED || code >= 500;

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The text may be the page of a proxy. The caller of this function handles that.
    return undefined;
  }
}

/** Pushes per second from a policy such as `"client";q=400;w=2`, which means 400 pushes in 2 seconds. */
function toRate(policy: string | undefined): number | undefined {
  const [, quota, window] = /;q=(\d+);w=([1-9]\d*)/.exec(policy ?? '') ?? [];
  return quota === undefined ? undefined : Number(quota) / Number(window);
}

/** Converts Retry-After, which is a number of seconds or a date (RFC 9110, 10.2.3). */
export function toMilliseconds(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  const wait = /^\d+$/.test(retryAfter)
    ? Number(retryAfter) * 1_000
    : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), MAX_RETRY_AFTER);
}
