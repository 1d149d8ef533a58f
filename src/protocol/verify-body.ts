/** The body of a dry run (`verify`): an operation, and the body of a push with that operation. */
import { z } from 'zod';
import { OPERATIONS, type OperationName } from '../domain/operation';
import { type JsonObject, parseJsonBody } from './json-body';
import { describe } from './language';
import { readQuery } from './query-body';
import type { bodySchemas } from './requests';

const wrapper = z.object({ operation: z.enum(OPERATIONS), push: z.looseObject({}) });

export interface VerifyBody {
  readonly operation: OperationName;
  /** Not validated yet. */
  readonly push: JsonObject;
}

/** @throws PushError INVALID_ENCODING, INVALID_JSON or VALIDATION_FAILED */
export function readVerifyBody(raw: Uint8Array): VerifyBody {
  const body = parseJsonBody(raw, 1);
  const { operation } = readQuery(wrapper, body);
  // Returns `body.push` instead of zod's copy, because the dry run must validate the push exactly as sent.
  return { operation, push: body.push as JsonObject };
}

/** Only for the OpenAPI document. */
export const verifySchema = (pushes: ReturnType<typeof bodySchemas>) =>
  z
    .union(
      OPERATIONS.map((name) =>
        z.object({
          operation: z.literal(name).meta(describe('The operation to verify', '要校验的操作')),
          push: pushes[name].meta({
            ...describe(
              'The body of the push. Errors contain the same field names as for a real push',
              '将发送给该操作的请求体；错误中的字段名与实际推送一致',
            ),
            // Prevents a copy of the push body's `allOf` in the document.
            allOf: undefined,
          }),
        }),
      ),
    )
    .meta(describe('An operation, and the body of its push', '操作，以及该次推送的请求体'));
