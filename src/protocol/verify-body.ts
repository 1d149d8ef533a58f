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
  /** The body of the push, not validated yet. */
  readonly push: JsonObject;
}

/** @throws PushError INVALID_ENCODING, INVALID_JSON, or VALIDATION_FAILED naming `operation` or `push` */
export function readVerifyBody(raw: Uint8Array): VerifyBody {
  const body = parseJsonBody(raw, 1);
  const { operation } = readQuery(wrapper, body);
  // The dry run must validate the push exactly as sent, so the result does not contain the copy that zod makes.
  return { operation, push: body.push as JsonObject };
}

/** The whole body as one schema, for the OpenAPI document. */
export const verifySchema = (pushes: ReturnType<typeof bodySchemas>) =>
  z
    .union(
      OPERATIONS.map((name) =>
        z.object({
          operation: z.literal(name).meta(describe('The operation to verify', '要校验的操作')),
          push: pushes[name].meta({
            ...describe(
              'The body of the push; errors name its fields as in the answer to a real push',
              '将发送给该操作的请求体；错误中的字段名与实际推送一致',
            ),
            // Otherwise `meta` would copy `allOf` of the push body. In the OpenAPI document, `push` is a reference to
            // the schema of the push body, which already has `allOf`.
            allOf: undefined,
          }),
        }),
      ),
    )
    .meta(describe('An operation, and the body of a push with it', '操作，以及该次推送的请求体'));
