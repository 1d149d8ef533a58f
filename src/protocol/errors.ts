/** The errors that callers receive. */
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

/** A field error in Chinese and English. */
export interface Problem extends FieldError, LocalizedText {}

/**
 * Maximum problems of a push-log entry, of a line of a batch or resend, and of the unknown fields in one object. A
 * line can list more unknown users.
 */
export const MAX_PROBLEMS = 20;

export const problem = (field: string, text: Text): Problem => ({ field, ...localized(text) });

export interface RateState {
  /** Requests per second; each push of a batch counts as one request. */
  readonly rate: number;
  /** Maximum number of requests that the client may send at once. */
  readonly burst: number;
  /** Number of requests that the client may send now. */
  readonly remaining: number;
}

export interface PushErrorDetail {
  readonly text?: Text;
  readonly errors?: readonly Problem[];
  readonly warnings?: readonly LocalizedWarning[];
  /** Seconds, sent as the header Retry-After. */
  readonly retryAfter?: number;
  readonly rate?: RateState;
  readonly cause?: unknown;
}

/** An error that the caller receives. */
export class PushError extends Error {
  override readonly name = 'PushError';
  /** The code in the envelope. */
  readonly code: number;
  /** Whether the caller should retry with the same body. A retry has a new timestamp and signature. */
  readonly retryable: boolean;
  /** The message in Chinese and English. */
  readonly text: Text;
  readonly errors: readonly Problem[] | undefined;
  readonly warnings: readonly LocalizedWarning[];
  readonly retryAfter: number | undefined;
  readonly rate: RateState | undefined;
  readonly reason: Reason;

  /** @param candidate a worker of a newer version can send a reason that this version does not know */
  constructor(candidate: Reason, detail: PushErrorDetail = {}) {
    const reason = /^[A-Z][A-Z0-9_]{0,63}$/.test(candidate) ? candidate : 'INTERNAL_ERROR';
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

/** A missing or deleted matter (contract 4.4). */
export function matterNotFound(
  reason: 'MATTER_NOT_FOUND' | 'MATTER_DELETED',
  systemCode: string,
  externalId: string,
): PushError {
  const matter = `${systemCode}/${externalId}`;
  const text = { zh: `事项不存在: ${matter}`, en: `the matter does not exist: ${matter}` };
  return new PushError(reason, { text });
}

/** @param retryAfter seconds until the rate limit allows a retry */
export function rateLimited(limit: Omit<RateState, 'remaining'>, retryAfter: number): PushError {
  return new PushError('RATE_LIMITED', { retryAfter, rate: { ...limit, remaining: 0 } });
}

/** The error for a query key without access to bodies. Such a key may not use `field` (contract 3.5). */
export function fieldNotAllowed(field: string): PushError {
  const text = {
    zh: `该密钥无正文权限，不能使用 ${field}`,
    en: `this key has no access to bodies and may not use ${field}`,
  };
  return new PushError('SCOPE_NOT_ALLOWED', { text, errors: [problem(field, text)] });
}

/** Seconds of Retry-After for a paused client. */
const PAUSED_RETRY_AFTER = 30;

/** @param why the operator's reason for the pause */
export function clientPaused(why?: string): PushError {
  const { zh, en } = new PushError('CLIENT_PAUSED').text;
  const text = why ? { text: { zh: `${zh}: ${why}`, en: `${en}: ${why}` } } : {};
  return new PushError('CLIENT_PAUSED', { retryAfter: PAUSED_RETRY_AFTER, ...text });
}
