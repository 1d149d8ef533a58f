/** The JSON envelope of every response (specification 4; decisions, "Envelope and HTTP status"). */
import type { Outcome } from '../domain/decide';
import type { Problem, PushError } from './errors';
import type { FieldError } from './field-error';
import { type Language, render } from './language';
import { DOCS_PATH } from './paths';
import type { Warning, WarningInBoth } from './warnings';

/** `data` of a successful push (specification 2.4). */
export interface PushData {
  /** Decimal digits: a 64-bit id does not survive as a JSON number. */
  readonly matterId: string;
  readonly externalId: string;
  readonly outcome: Outcome;
  readonly warnings?: readonly Warning[];
}

/** `data` of a dry run that passes. */
export interface Verified {
  readonly valid: true;
  /** null: the service would assign one. */
  readonly externalId: string | null;
  readonly warnings: readonly Warning[];
}

export interface Envelope {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
  readonly requestId: string;
  /** ISO-8601, UTC. */
  readonly timestamp: string;
  readonly reason?: string;
  readonly retryable?: boolean;
  /** Where the reason is explained, below the service's address: `/docs#reason-SIGNATURE_MISMATCH`. */
  readonly help?: string;
  readonly errors?: readonly FieldError[];
  /** Of a rejected body: what looks wrong in it besides. */
  readonly warnings?: readonly Warning[];
}

/** As its reader is told. */
export const renderAll = (problems: readonly Problem[], language: Language): FieldError[] =>
  problems.map((it) => render(it, language));

export const renderWarnings = (warnings: readonly WarningInBoth[], language: Language): Warning[] =>
  warnings.map((it) => render(it, language));

export function successEnvelope(data: unknown, requestId: string, now: number): Envelope {
  return { code: 0, message: 'success', data, requestId, timestamp: new Date(now).toISOString() };
}

/** The row of a reason on the reference page; for a rejected signature it tells how to learn the cause. */
export const helpFor = (reason: string): string => `${DOCS_PATH}#reason-${reason}`;

/** @param language what its caller reads */
export function errorEnvelope(
  error: PushError,
  requestId: string,
  now: number,
  language: Language = 'zh',
): Envelope {
  return {
    code: error.code,
    message: error.text[language],
    data: null,
    requestId,
    timestamp: new Date(now).toISOString(),
    reason: error.reason,
    retryable: error.retryable,
    help: helpFor(error.reason),
    ...(error.errors && { errors: renderAll(error.errors, language) }),
    ...(error.warnings.length > 0 && {
      warnings: renderWarnings(error.warnings, language),
    }),
  };
}
