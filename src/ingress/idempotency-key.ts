/** Reads X-Idempotency-Key (decisions, "Idempotency key") from the raw header list. */
import { IDEMPOTENCY_KEY } from '../contract/headers';
import type { FieldError } from '../errors';
import { headerValues } from './auth-headers';

/** What is wrong with it is told together with what is wrong with the body. */
export interface SentIdempotencyKey {
  readonly idempotencyKey: string | undefined;
  readonly headerErrors: readonly FieldError[];
}

export function readIdempotencyKey(rawHeaders: readonly string[]): SentIdempotencyKey {
  const values = headerValues(rawHeaders, 'x-idempotency-key');
  const [idempotencyKey] = values;
  if (idempotencyKey === undefined) return { idempotencyKey: undefined, headerErrors: [] };
  if (values.length === 1 && IDEMPOTENCY_KEY.test(idempotencyKey)) {
    return { idempotencyKey, headerErrors: [] };
  }
  const message = values.length > 1 ? '只能出现一次' : '必须是 1 到 255 个可打印的 ASCII 字符';
  return {
    idempotencyKey: undefined,
    headerErrors: [{ field: 'X-Idempotency-Key', message }],
  };
}
