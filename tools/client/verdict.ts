/** What an answer means for a call: done, rejected for good, or to be tried again. */
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
  /** The answer repeats that of an earlier try, which had been applied. */
  readonly replayed: boolean;
}

export interface Rejected extends Rejection {
  readonly kind: 'rejected';
}

/** What tells why a push was rejected: in an envelope, and in a line of the answer to a batch. */
export interface Told {
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

/** Of a success `reason` is absent; of a rejection `data` is null. Every answer of the service has the others. */
interface AnyEnvelope extends Told {
  readonly requestId: string;
  readonly timestamp: string;
  readonly data: unknown;
}

/** Whether `data` of a success has what the called endpoint always answers with. */
export type Confirms = (data: object) => boolean;

/** @returns the envelope of the service; undefined: something else answered, with JSON of another form or none */
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

/** Longest wait that a service may impose, in milliseconds. */
const MAX_RETRY_AFTER = 300_000;
const RATE_LIMITED = 429;
/** A signature is another one only in another second. */
const NEXT_SIGNATURE = 1_000;

/** @param confirms of the endpoint: other services answer with `code: 0` too */
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

/** An envelope that has begun and has no end: without a length a lost connection looks like its end. */
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

/** Something answered that is not the service, or stands before it. The message names its address. */
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
 * Statuses with which a gateway may reject one request for its content or size. Every other answer from
 * elsewhere that is not temporary would be the same for any request.
 */
const OF_ONE_REQUEST = [400, 403, 406, 411, 412, 413, 414, 415, 417, 418, 422, 431, 451];

/** Whether something other than the service answers there, whatever is sent. */
export const isElsewhereForAll = (rejection: Rejected) =>
  isFromElsewhere(rejection) && !rejection.retryable && !OF_ONE_REQUEST.includes(rejection.code);

/** @param retryAfter milliseconds that the answer asks to wait */
export function toRejected(told: Told, retryAfter: number | undefined): Rejected {
  const { code, message, requestId, reason = `CODE_${code}`, errors, warnings } = told;
  // A misspelt field is a warning, and why another one is missing.
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
    retryable: told.retryable ?? isTemporary(code),
    retryAfter: reason === 'SIGNATURE_REUSED' ? NEXT_SIGNATURE : retryAfter,
  };
}

/** @param error the system's or node's, where no whole answer came */
export function noAnswer(error: NodeJS.ErrnoException): Rejected {
  return {
    kind: 'rejected',
    code: 0,
    reason: error.code ?? 'NETWORK_ERROR',
    // A host with several addresses fails with one error around theirs, which has no text.
    message: error.message || (error.code ?? error.name),
    requestId: null,
    errors: [],
    // A header that cannot be one was not even sent.
    retryable: error.name !== 'TypeError',
    retryAfter: undefined,
  };
}

/** The client as a whole is too fast: what one call is told holds for all. */
export const isRateLimit = ({ code }: Rejected) => code === RATE_LIMITED;

const isTemporary = (code: number) => code === 408 || code === RATE_LIMITED || code >= 500;

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's page; the caller tells so.
    return undefined;
  }
}

/** So many pushes in so many seconds: `"client";q=400;w=2`. */
function toRate(policy: string | undefined): number | undefined {
  const [, quota, window] = /;q=(\d+);w=([1-9]\d*)/.exec(policy ?? '') ?? [];
  return quota === undefined ? undefined : Number(quota) / Number(window);
}

/** Retry-After is either seconds or a date (RFC 9110, 10.2.3). */
export function toMilliseconds(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  const wait = /^\d+$/.test(retryAfter)
    ? Number(retryAfter) * 1_000
    : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), MAX_RETRY_AFTER);
}
