/** The headers of a push beside its signature: X-Idempotency-Key and X-Strict-Fields (decisions). */
import { headerValues } from '../auth/auth-headers';
import { type Problem, problem } from '../protocol/errors';
import { IDEMPOTENCY_KEY } from '../protocol/headers';
import { TEXTS } from '../protocol/texts';

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
