/** Reads X-Idempotency-Key (decisions, "Idempotency key") from the raw header list. */
import { IDEMPOTENCY_KEY } from '../contract/headers';
import { TEXTS } from '../contract/texts';
import { type Problem, problem } from '../errors';
import { headerValues } from './auth-headers';

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
