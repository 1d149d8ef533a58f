/** One line of a push file: `{"op":"upsert|status|reopen|delete","body":{...},"key"?:"..."}`. */
import { z } from 'zod';
import { OPERATIONS, type OperationName } from '../../domain/operation';
import type { RawLine } from '../read-lines';

export interface PushLine {
  readonly number: number;
  readonly op: OperationName;
  /** What orders it among the others; absent: it depends on none. */
  readonly externalId: string | undefined;
  /** The line's own X-Idempotency-Key. */
  readonly key: string | undefined;
  /** The bytes to sign and to send. */
  readonly body: Buffer;
  /** The line as it stands in the file. */
  readonly text: string;
}

/** A line that cannot be pushed; `text` is what stands there. */
export interface BadLine {
  readonly number: number;
  readonly reason: 'UNKNOWN_OPERATION' | 'MALFORMED_LINE';
  readonly message: string;
  readonly text: string;
}

const SHAPE = z.object({
  op: z.enum(OPERATIONS, { error: `op must be one of ${OPERATIONS.join(', ')}` }),
  body: z.record(z.string(), z.unknown(), { error: 'body must be an object' }),
  key: z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, 'key must be 1 to 255 printable ASCII characters')
    .optional(),
});
const utf8 = new TextDecoder('utf-8', { fatal: true });
/** How much of a line that is not JSON is kept for the failure file. */
const MAX_KEPT = 2_000;

/** @returns undefined for a blank line */
export function parsePushLine({ number, bytes }: RawLine): PushLine | BadLine | undefined {
  const bad = (message: string, text: string): BadLine => {
    return { number, reason: 'MALFORMED_LINE', message, text };
  };
  if (!bytes) return bad('the line is too long', '');
  try {
    const text = utf8.decode(bytes).trim();
    return text === '' ? undefined : parseText(number, text);
  } catch (error) {
    const message = error instanceof SyntaxError ? `not JSON: ${error.message}` : String(error);
    return bad(message, bytes.toString('utf8').slice(0, MAX_KEPT));
  }
}

/** @throws SyntaxError, or RangeError where the JSON is nested too deeply */
function parseText(number: number, text: string): PushLine | BadLine {
  const json: unknown = JSON.parse(text);
  const parsed = SHAPE.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const reason = issue?.path[0] === 'op' ? 'UNKNOWN_OPERATION' : 'MALFORMED_LINE';
    return { number, reason, message: issue?.message ?? '', text };
  }
  const { op, key } = parsed.data;
  // Not zod's copy: what is sent is what stands in the file, in its order.
  const { body } = json as { body: Record<string, unknown> };
  const externalId = typeof body.externalId === 'string' ? body.externalId : undefined;
  return { number, op, externalId, key, body: Buffer.from(JSON.stringify(body)), text };
}
