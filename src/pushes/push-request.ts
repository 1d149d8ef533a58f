/** A push as it is submitted: a signed request, and its headers X-Idempotency-Key and X-Strict-Fields. */
import { headerValues } from '../auth/auth-headers';
import type { SignedRequest } from '../auth/signed-request';
import type { OperationName } from '../domain/operation';
import { type Problem, problem, type RateState } from '../protocol/errors';
import { IDEMPOTENCY_KEY } from '../protocol/headers';
import { TEXTS } from '../protocol/texts';
import type { BodyDigest } from '../storage/push-log/entry-model';
import type { StageTimes } from '../telemetry/stage-times';

/** An authenticated request, not yet looked into. */
export interface PushRequest extends SignedRequest, PushHeaders {
  readonly operation: OperationName;
  readonly rawBody: Uint8Array;
  /** Of a large body. */
  readonly digest?: BodyDigest | undefined;
  readonly path: string;
  /** Told where the client stands with its rate. */
  readonly admitted: (rate: RateState | undefined) => void;
  /** Where LOG_REQUESTS is on. */
  readonly stages?: StageTimes | undefined;
}

export interface PushHeaders {
  /** As sent; undefined where it was not sent or is itself a problem (decisions, "Idempotency key"). */
  readonly idempotencyKey: string | undefined;
  /** Whether fields that are not read are rejected (decisions, "Operations"). */
  readonly strictFields: boolean;
  /** What is wrong with the headers; told together with what is wrong with the body. */
  readonly headerErrors: readonly Problem[];
}

/** @param rawHeaders names and values in turn, as they were sent */
export function readPushHeaders(rawHeaders: readonly string[]): PushHeaders {
  const headerErrors: Problem[] = [];
  const idempotencyKey = readIdempotencyKey(rawHeaders, headerErrors);
  const strictFields = readStrictFields(rawHeaders, headerErrors);
  return { idempotencyKey, strictFields, headerErrors };
}

function readIdempotencyKey(rawHeaders: readonly string[], errors: Problem[]): string | undefined {
  const values = headerValues(rawHeaders, 'x-idempotency-key');
  const [key] = values;
  if (key === undefined) return undefined;
  if (values.length === 1 && IDEMPOTENCY_KEY.test(key)) return key;
  const text = values.length > 1 ? TEXTS.onlyOnce : TEXTS.idempotencyKey;
  errors.push(problem('X-Idempotency-Key', text));
  return undefined;
}

function readStrictFields(rawHeaders: readonly string[], errors: Problem[]): boolean {
  const values = headerValues(rawHeaders, 'x-strict-fields').map((value) => value.toLowerCase());
  const [value = 'false'] = values;
  const isWord = values.length <= 1 && (value === 'true' || value === 'false');
  if (!isWord) errors.push(problem('X-Strict-Fields', TEXTS.trueOrFalse));
  return isWord && value === 'true';
}
