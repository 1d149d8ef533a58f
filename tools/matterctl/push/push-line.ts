/**
 * Reads lines of push files, and writes failed lines into failure files. A line is
 * `{"op":"upsert|status|reopen|delete","body":{...},"key"?:"..."}`. In a failure file, the field `text` may contain it.
 */

import { closeSync, existsSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { OPERATIONS, type OperationName } from '../../../src/domain/operation';
import { IDEMPOTENCY_KEY } from '../../../src/protocol/headers';
import type { MatterPushError } from '../../client/error';
import type { TextLine } from '../streams';
import { trimBlanks, withoutMark } from './blanks';

export interface PushLine {
  readonly number: number;
  readonly op: OperationName;
  /** Lines with the same id keep their order. A line without an id depends on no other line. */
  readonly externalId: string | undefined;
  /** X-Idempotency-Key that the line itself states. */
  readonly key: string | undefined;
  /** The bytes to sign and to send. */
  readonly body: Buffer;
  /** The line as in the file. */
  readonly text: string;
}

/** A line that cannot be pushed. `text` is its content. */
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
/** The character with which a decoder replaces invalid bytes. A line with it is no longer the line of the user. */
const REPLACEMENT = '\ufffd';

/** @returns undefined for a blank line */
export function parsePushLine({ number, bytes }: TextLine): PushLine | BadLine | undefined {
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

/** @throws SyntaxError, or RangeError if the JSON is nested too deeply */
function parseText(number: number, text: string): PushLine | BadLine {
  const json: unknown = JSON.parse(text);
  const corrected = textOf(json);
  return corrected === undefined
    ? parseJson(number, json, text)
    : parseCorrected(number, corrected);
}

/** The line in the field `text` of a failure file. A user may have corrected it, also as JSON instead of a text. */
function textOf(json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null || !('text' in json) || 'op' in json) return;
  const { text } = json;
  if (typeof text === 'string') return trimBlanks(text);
  return typeof text === 'object' && text !== null ? JSON.stringify(text) : undefined;
}

/** Parses such a line. If it is still invalid, the next failure file gets the same text, not a text within a text. */
function parseCorrected(number: number, text: string): PushLine | BadLine {
  const bad = { number, reason: 'MALFORMED_LINE', text } as const;
  // Some of its original bytes were not UTF-8 and are lost. It may be valid JSON, but its words are wrong.
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
  // Without zod's copy, because the body must have the fields and the order of the file.
  const { body } = json as { body: Record<string, unknown> };
  const externalId = typeof body.externalId === 'string' ? body.externalId : undefined;
  return { number, op, externalId, key, body: Buffer.from(JSON.stringify(body)), text };
}

/** A failed line in a failure file. The fields of the original line are added to it. */
export interface FailedLine {
  readonly line: number;
  /** Null if the line was never sent. */
  readonly code: number | null;
  readonly reason: string;
  readonly message: string;
  readonly requestId: string | null;
  /** Idempotency key with which the line was sent. */
  readonly key?: string | undefined;
  /** The original line, if it is not JSON. */
  readonly text?: string;
}

/**
 * The file of the lines that failed finally. A user can correct the lines and push the file, because `parsePushLine`
 * reads its form.
 */
export interface FailureFile {
  /** Writes a line before it counts as done. It blocks the process, which is acceptable, because few lines fail. */
  add(failure: FailedLine): void;
  /** Size of the file in bytes. */
  size(): number;
  close(): void;
}

/**
 * The first failed line creates the file.
 *
 * @param keep bytes at the start of the file to keep. The rest belongs to lines that will be pushed again
 */
export function createFailureFile(path: string, keep: number): FailureFile {
  let fd: number | undefined;
  // A user may have moved the file since the last run.
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
 * The failed line of a rejected push. It keeps the idempotency key: if the push took effect and only its answer was
 * lost, another attempt changes nothing.
 */
export function rejectedLine(push: PushLine, error: MatterPushError): FailedLine {
  const { code, reason, message, requestId, idempotencyKey: key } = error;
  const whole: object = JSON.parse(push.text);
  // The body can be written as JSON. Other fields of the line may be nested too deeply.
  const json = isWritable(whole) ? whole : { op: push.op, body: JSON.parse(String(push.body)) };
  return { ...json, key, line: push.number, code, reason, message, requestId };
}

/** The failed line for a line that was never sent: its fields if it is JSON, otherwise its text. */
export function badLine({ number: line, reason, message, text }: BadLine): FailedLine {
  const explanation = { line, code: null, reason, message, requestId: null };
  try {
    const json: unknown = text.includes(REPLACEMENT) ? undefined : JSON.parse(text);
    const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
    if (isObject && isWritable(json)) return { ...json, ...explanation };
  } catch {
    // Not JSON. The failed line contains the text.
  }
  return { text, ...explanation };
}

/** Whether the object can be written as JSON. Very deep JSON can be parsed but not written. */
function isWritable(json: object): boolean {
  try {
    JSON.stringify(json);
    return true;
  } catch {
    // RangeError: the call stack is too deep.
    return false;
  }
}
