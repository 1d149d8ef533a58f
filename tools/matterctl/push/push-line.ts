/**
 * One line of a push file: `{"op":"upsert|status|reopen|delete","body":{...},"key"?:"..."}`, or that in
 * the `text` of a line of a failure file; and how a line that failed is written into such a file.
 */

import { closeSync, existsSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { OPERATIONS, type OperationName } from '../../../src/domain/operation';
import { IDEMPOTENCY_KEY } from '../../../src/protocol/headers';
import type { MatterPushError } from '../../client/error';
import type { RawLine } from '../streams';
import { trimBlanks, withoutMark } from './blanks';

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
    .regex(
      IDEMPOTENCY_KEY,
      'key must be 1 to 255 printable ASCII characters, without a blank at either end',
    )
    .optional(),
});
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** What a decoder puts where bytes are no UTF-8: such a line, written anew, would be another one. */
const REPLACEMENT = '\ufffd';

/** @returns undefined for a blank line */
export function parsePushLine({ number, bytes }: RawLine): PushLine | BadLine | undefined {
  const bad = (message: string, text: string): BadLine => {
    return { number, reason: 'MALFORMED_LINE', message, text };
  };
  if (!bytes) return bad('the line is too long', '');
  try {
    const text = trimBlanks(withoutMark(utf8.decode(bytes), number));
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
  if (typeof text === 'string') return trimBlanks(text);
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

/** A line that failed, with what stands in the file. */
export interface FailedLine {
  readonly line: number;
  /** null: it was never sent. */
  readonly code: number | null;
  readonly reason: string;
  readonly message: string;
  readonly requestId: string | null;
  /** Its idempotency key, where it was sent. */
  readonly key?: string | undefined;
  /** The line itself, where it is no JSON. */
  readonly text?: string;
}

/**
 * The lines that failed for good, in a form that can be pushed again after mending: `parsePushLine`
 * reads it, and knows the line in a `text`.
 */
export interface FailureFile {
  /** Written before the line counts as done; failures are few, so it may block. */
  add(failure: FailedLine): void;
  /** Bytes written. */
  size(): number;
  close(): void;
}

/**
 * Opens the file with the first failure.
 *
 * @param keep bytes of it that belong to the run that is continued; what stands behind them is of
 *   lines that will be pushed again
 */
export function createFailureFile(path: string, keep: number): FailureFile {
  let fd: number | undefined;
  // Somebody may have moved it away meanwhile.
  let size = existsSync(path) ? keep : 0;
  if (size > 0) truncateSync(path, size);
  else rmSync(path, { force: true });
  return {
    add: (failure) => {
      fd ??= openSync(path, 'a', 0o600);
      size += writeSync(fd, `${JSON.stringify(failure)}\n`);
    },
    size: () => size,
    close: () => {
      if (fd !== undefined) closeSync(fd);
    },
  };
}

/**
 * A rejected push. The idempotency key stays with it: should the push have been applied after all
 * (its answer was lost), pushing it again changes nothing.
 */
export function rejectedLine(push: PushLine, error: MatterPushError): FailedLine {
  const { code, reason, message, requestId, idempotencyKey: key } = error;
  const whole: object = JSON.parse(push.text);
  // Beside the body, which is known to be, there may be what cannot be written.
  const json = isWritable(whole) ? whole : { op: push.op, body: JSON.parse(String(push.body)) };
  return { ...json, key, line: push.number, code, reason, message, requestId };
}

/** A line that was never sent: as it stands where it is JSON, else its text. */
export function badLine({ number: line, reason, message, text }: BadLine): FailedLine {
  const told = { line, code: null, reason, message, requestId: null };
  try {
    const json: unknown = text.includes(REPLACEMENT) ? undefined : JSON.parse(text);
    const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
    if (isObject && isWritable(json)) return { ...json, ...told };
  } catch {
    // Not JSON, which is what is being reported.
  }
  return { text, ...told };
}

/** What is nested too deeply can be read, and not written again. */
function isWritable(json: object): boolean {
  try {
    JSON.stringify(json);
    return true;
  } catch {
    // RangeError: the depth of the call stack.
    return false;
  }
}
