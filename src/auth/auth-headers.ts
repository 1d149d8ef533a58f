/** Reads the headers of a signed request from Node's `rawHeaders`, because Node's `headers` hides duplicate headers. */
import { type Problem, PushError, problem } from '../protocol/errors';
import { IDEMPOTENCY_KEY } from '../protocol/headers';
import { TEXTS } from '../protocol/texts';

export interface AuthHeaders {
  readonly clientId: string;
  /** The text as sent. */
  readonly timestamp: string;
  readonly signature: string;
}

/** @throws PushError HMAC_HEADERS_MISSING if a header is missing, empty or duplicate */
export function readAuthHeaders(rawHeaders: readonly string[]): AuthHeaders {
  const clientId = onlyValue(rawHeaders, 'x-client-id');
  const timestamp = onlyValue(rawHeaders, 'x-timestamp');
  const signature = onlyValue(rawHeaders, 'x-signature');
  if (!clientId || !timestamp || !signature) throw new PushError('HMAC_HEADERS_MISSING');
  return { clientId, timestamp, signature };
}

function onlyValue(rawHeaders: readonly string[], name: string): string | undefined {
  const values = headerValues(rawHeaders, name);
  return values.length === 1 ? values[0] : undefined;
}

/**
 * Node's `headersDistinct` must not be used, because a header named `__proto__` can cause an exception.
 *
 * @param rawHeaders alternating names and values of headers
 * @param name a lower-case header name
 */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = 1; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at - 1] ?? '';
    if (sent.length !== name.length || sent.toLowerCase() !== name) continue;
    values.push(rawHeaders[at] ?? '');
  }
  return values;
}

export interface PushHeaders {
  /** The key as sent; undefined if the header is absent or invalid. */
  readonly idempotencyKey: string | undefined;
  /** True: the service rejects a push with fields that the operation does not use. False: the service only warns. */
  readonly strictFields: boolean;
  readonly headerErrors: readonly Problem[];
}

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
  const isValid = values.length <= 1 && (value === 'true' || value === 'false');
  if (!isValid) errors.push(problem('X-Strict-Fields', TEXTS.trueOrFalse));
  return isValid && value === 'true';
}
