/** `PushError`, the type of all errors that callers receive, and functions that create errors of this type. */
import { type LocalizedText, localized, type Text } from './language';
import { isReason, REASONS, type Reason, UNKNOWN_REASON } from './reasons';
import type { FieldError, LocalizedWarning } from './warnings';

export {
  ALL_REASONS,
  isReason,
  type Reason,
  UNAUTHENTICATED_REASONS,
  WRONG_SIGNATURE,
} from './reasons';

/** A field error in Chinese and English, as the push log stores it. */
export interface Problem extends FieldError, LocalizedText {}

/**
 * Maximum number of problems in a push-log entry and in the result of one line of a batch. Only the result of a line
 * with unknown users can have more problems.
 */
export const MAX_PROBLEMS = 20;

export const problem = (field: string, text: Text): Problem => ({ field, ...localized(text) });

/** The state of a client's rate limit, as the RateLimit headers show it. */
export interface RateState {
  /** Requests per second. Each push of a batch or resend counts as a request. */
  readonly rate: number;
  /** Maximum number of requests that the client may send at once. */
  readonly burst: number;
  /** Number of requests that the client may send now. */
  readonly remaining: number;
}

export interface PushErrorDetail {
  readonly text?: Text;
  readonly errors?: readonly Problem[];
  /** Warnings about the rejected body: a misspelt field can explain why another field is missing. */
  readonly warnings?: readonly LocalizedWarning[];
  /** Seconds, sent as the header Retry-After. */
  readonly retryAfter?: number;
  readonly rate?: RateState;
  readonly cause?: unknown;
}

/** An error that the caller receives with its reason. Any other thrown error becomes a 500 without details. */
export class PushError extends Error {
  override readonly name = 'PushError';
  /** The envelope's code, which is also the HTTP status. */
  readonly code: number;
  /** Whether the same request can succeed later. */
  readonly retryable: boolean;
  /** The message in Chinese and English. The property `message` has only the Chinese text. */
  readonly text: Text;
  readonly errors: readonly Problem[] | undefined;
  readonly warnings: readonly LocalizedWarning[];
  readonly retryAfter: number | undefined;
  readonly rate: RateState | undefined;
  readonly reason: Reason;

  /**
   * @param given a reason, also one that only a newer version knows. A text without the form of a reason (capital
   *   letters, digits and underscores, at most 64 characters) results in the reason INTERNAL_ERROR
   */
  constructor(given: Reason, detail: PushErrorDetail = {}) {
    const reason = /^[A-Z][A-Z0-9_]{0,63}$/.test(given) ? given : 'INTERNAL_ERROR';
    const known = isReason(reason) ? REASONS[reason] : UNKNOWN_REASON;
    const text = detail.text ?? known.text;
    super(text.zh, { cause: detail.cause });
    this.text = text;
    this.reason = reason;
    this.code = known.code;
    this.retryable = known.retryable;
    this.errors = detail.errors;
    this.warnings = detail.warnings ?? [];
    this.rate = detail.rate;
    this.retryAfter = detail.retryAfter ?? (known.code === 503 ? 1 : undefined);
  }
}

/** The error of an operation on a matter that does not exist or is deleted (contract 4.4). */
export function matterNotFound(
  reason: 'MATTER_NOT_FOUND' | 'MATTER_DELETED',
  systemCode: string,
  externalId: string,
): PushError {
  const matter = `${systemCode}/${externalId}`;
  const text = { zh: `事项不存在: ${matter}`, en: `the matter does not exist: ${matter}` };
  return new PushError(reason, { text });
}

/**
 * The error of a request that exceeds the rate limit of its client.
 *
 * @param retryAfter seconds after which the same request would be within the rate limit
 */
export function rateLimited(limit: Omit<RateState, 'remaining'>, retryAfter: number): PushError {
  return new PushError('RATE_LIMITED', { retryAfter, rate: { ...limit, remaining: 0 } });
}

/** The error of a query that uses `field`, although the query key has no access to bodies (contract 3.5). */
export function fieldNotAllowed(field: string): PushError {
  const text = {
    zh: `该密钥无正文权限，不能使用 ${field}`,
    en: `this key has no access to bodies and may not use ${field}`,
  };
  return new PushError('SCOPE_NOT_ALLOWED', { text, errors: [problem(field, text)] });
}

/** Seconds of Retry-After while a client is paused. The service does not know when an operator will end the pause. */
const PAUSED_RETRY_AFTER = 30;

/** The error of a push of a paused client. @param why the operator's reason for the pause, if any */
export function clientPaused(why?: string): PushError {
  const { zh, en } = new PushError('CLIENT_PAUSED').text;
  const text = why ? { text: { zh: `${zh}: ${why}`, en: `${en}: ${why}` } } : {};
  return new PushError('CLIENT_PAUSED', { retryAfter: PAUSED_RETRY_AFTER, ...text });
}
