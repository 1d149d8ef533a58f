/** The JSON envelope of answers (contract 2.3). Documents such as `/docs` have no envelope. */
import type { Problem, PushError } from './errors';
import { type Language, render } from './language';
import { DOCS_PATH } from './paths';
import type { FieldError, LocalizedWarning, Warning } from './warnings';

export interface Envelope {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
  readonly requestId: string;
  /** ISO-8601, UTC. */
  readonly timestamp: string;
  readonly reason?: string;
  readonly retryable?: boolean;
  /** Path of the documentation of the reason, for example `/docs#reason-SIGNATURE_MISMATCH`. */
  readonly help?: string;
  readonly errors?: readonly FieldError[];
  readonly warnings?: readonly Warning[];
}

export const renderAll = (problems: readonly Problem[], language: Language): FieldError[] =>
  problems.map((it) => render(it, language));

export const renderWarnings = (
  warnings: readonly LocalizedWarning[],
  language: Language,
): Warning[] => warnings.map((it) => render(it, language));

export function successEnvelope(data: unknown, requestId: string, now: number): Envelope {
  return { code: 0, message: 'success', data, requestId, timestamp: new Date(now).toISOString() };
}

export const helpFor = (reason: string): string => `${DOCS_PATH}#reason-${reason}`;

/** @param pathPrefix the path of PUBLIC_URL; may be empty */
export const withHelpUnder = (pathPrefix: string, envelope: Envelope): Envelope =>
  pathPrefix === '' || envelope.help === undefined
    ? envelope
    : { ...envelope, help: pathPrefix + envelope.help };

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
