/** What an answer means for a call: done, rejected for good, or to be tried again. */
import { z } from 'zod';
import type { FieldError } from '../../src/protocol/field-error';
import type { Rejection } from './error';
import type { Answer } from './sender';

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

const PROBLEMS = z.array(z.object({ field: z.string(), message: z.string() })).catch([]);
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
const ENVELOPE = z.object({
  code: z.number(),
  message: z.string().catch(''),
  requestId: z.string().nullable().catch(null),
  reason: z.string().optional(),
  retryable: z.boolean().optional(),
  data: z.unknown().optional(),
  errors: PROBLEMS,
  warnings: PROBLEMS,
});

/** Others answer with `code: 0` too, and that must not pass for a write that was confirmed. */
const isOurs = ({ code, requestId, data }: z.infer<typeof ENVELOPE>) =>
  code !== 0 || (requestId !== null && typeof data === 'object' && data !== null);

/** Longest wait that a service may impose, in milliseconds. */
const MAX_RETRY_AFTER = 300_000;
const RATE_LIMITED = 429;
/** A signature is another one only in another second. */
const NEXT_SIGNATURE = 1_000;

export function judge(answer: Answer): Answered | Rejected {
  const envelope = ENVELOPE.safeParse(parseJson(answer.text)).data;
  const retryAfter = toMilliseconds(answer.retryAfter);
  if (!envelope || !isOurs(envelope)) {
    // Not from the service but from something before it, or from nothing of the kind.
    const message = `the answer is not one of Matter Push: ${answer.text.slice(0, 200).trim()}`;
    const { status: code } = answer;
    const retryable = isTemporary(code);
    return { ...REFUSED, code, reason: `HTTP_${code}`, message, retryable, retryAfter };
  }
  if (envelope.code === 0) {
    const { data, requestId } = envelope;
    return { kind: 'answered', data, requestId: requestId ?? '', replayed: answer.replayed };
  }
  const rate = toRate(answer.ratePolicy);
  return { ...toRejected(envelope, retryAfter), rate };
}

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

const REFUSED = { kind: 'rejected', requestId: null, errors: [] } as const;

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
