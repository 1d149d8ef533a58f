/** Reads X-Idempotency-Key (decisions, "Idempotency key") from the raw header list. */

import { headerValues } from '../auth/auth-headers';
import { type Problem, problem } from '../protocol/errors';
import { IDEMPOTENCY_KEY } from '../protocol/headers';
import { TEXTS } from '../protocol/texts';

/** What is wrong with it is told together with what is wrong with the body. */
export interface SentIdempotencyKey {
  readonly idempotencyKey: string | undefined;
  readonly headerErrors: readonly Problem[];
}

export function readIdempotencyKey(rawHeaders: readonly string[]): SentIdempotencyKey {
  const values = headerValues(rawHeaders, 'x-idempotency-key');
  const [idempotencyKey] = values;
  if (idempotencyKey === undefined) return { idempotencyKey: undefined, headerErrors: [] };
  if (values.length === 1 && IDEMPOTENCY_KEY.test(idempotencyKey)) {
    return { idempotencyKey, headerErrors: [] };
  }
  const text = values.length > 1 ? TEXTS.onlyOnce : TEXTS.idempotencyKey;
  return {
    idempotencyKey: undefined,
    headerErrors: [problem('X-Idempotency-Key', text)],
  };
}
