/**
 * One line of a push file: `{"op":"upsert|status|reopen|delete","body":{...},"key"?:"..."}`, or that in
 * the `text` of a line of a failure file.
 */
import { z } from 'zod';
import { OPERATIONS, type OperationName } from '../../../src/domain/operation';
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
/** What a decoder puts where bytes are no UTF-8: such a line, written anew, would be another one. */
export const REPLACEMENT = '\ufffd';

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
    return bad(messageOf(error), bytes.toString('utf8'));
  }
}

/** @throws SyntaxError, or RangeError where the JSON is nested too deeply */
function parseText(number: number, text: string): PushLine | BadLine {
  const json: unknown = JSON.parse(text);
  const mended = textOf(json);
  return mended === undefined ? parseJson(number, json, text) : parseMended(number, mended);
}

/** The line that a failure file keeps as a text, whole or mended; also written as the JSON that it is. */
function textOf(json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null || !('text' in json) || 'op' in json) return;
  const { text } = json;
  if (typeof text === 'string') return text.trim();
  return typeof text === 'object' && text !== null ? JSON.stringify(text) : undefined;
}

/** What is still wrong goes into the next failure file as that text, not as a text in a text. */
function parseMended(number: number, text: string): PushLine | BadLine {
  const bad = { number, reason: 'MALFORMED_LINE', text } as const;
  // Its bytes were no UTF-8, and are not known any more: as JSON it may be right, its words are not.
  if (text.includes(REPLACEMENT)) return { ...bad, message: 'text still holds U+FFFD characters' };
  try {
    return parseJson(number, JSON.parse(text), text);
  } catch (error) {
    return { ...bad, message: messageOf(error) };
  }
}

const messageOf = (error: unknown) =>
  error instanceof SyntaxError ? `not JSON: ${error.message}` : String(error);

function parseJson(number: number, json: unknown, text: string): PushLine | BadLine {
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
