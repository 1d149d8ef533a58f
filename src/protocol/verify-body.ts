/** The body of a dry run: an operation, and the body that its push would have. */
import { z } from 'zod';
import { OPERATIONS, type OperationName } from '../domain/operation';
import { about } from './bilingual';
import { type JsonObject, parseJsonBody } from './json-body';
import { readQuery } from './query-body';
import type { bodySchemas } from './requests';

const wrapper = z.object({ operation: z.enum(OPERATIONS), push: z.looseObject({}) });

export interface VerifyBody {
  readonly operation: OperationName;
  /** As it was sent, not yet looked into. */
  readonly push: JsonObject;
}

/**
 * @throws PushError INVALID_ENCODING, INVALID_JSON, or VALIDATION_FAILED naming `operation` or `push`
 */
export function readVerifyBody(raw: Uint8Array): VerifyBody {
  const body = parseJsonBody(raw, 1);
  const { operation } = readQuery(wrapper, body);
  // Not zod's copy: what is looked into is what would be pushed.
  return { operation, push: body.push as JsonObject };
}

/** The whole of it in one schema: what the OpenAPI document tells. */
export const verifySchema = (pushes: ReturnType<typeof bodySchemas>) =>
  z
    .union(
      OPERATIONS.map((name) =>
        z.object({
          operation: z.literal(name).meta(about('What would be done', '要校验的操作')),
          push: pushes[name].meta({
            ...about(
              'The body that would be sent to that operation; errors name its fields as they would there',
              '将发送给该操作的请求体；错误中的字段名与实际推送一致',
            ),
            // Its rules stand with the body itself, which the document refers to.
            allOf: undefined,
          }),
        }),
      ),
    )
    .meta(
      about('An operation, and the body that its push would have', '操作，以及该次推送的请求体'),
    );
