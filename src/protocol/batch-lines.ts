/** From the bytes of a batch to its lines. What is wrong with one line is that line's error. */
import { isUtf8 } from 'node:buffer';
import { OPERATIONS, type OperationName } from '../domain/operation';
import { batchLine } from './batch';
import { bodySpan } from './body-span';
import { PushError, problem } from './errors';
import { IDEMPOTENCY_KEY } from './headers';
import { fieldErrors, type JsonObject } from './json-body';
import { structureProblem } from './json-scan';
import type { Text } from './language';
import { TEXTS } from './texts';
import { inBoth } from './zod-texts';

export interface BatchLimits {
  /** Lines with something in them. */
  readonly lines: number;
  /** Bytes of the body of one line. */
  readonly bodyBytes: number;
}

/** The bytes of a line, and its number. */
export interface RawLine {
  /** From 1; empty lines count. */
  readonly number: number;
  readonly bytes: Buffer;
}

/** A line that can be read. */
export interface ReadLine extends RawLine {
  readonly op: OperationName;
  readonly key: string | undefined;
  readonly body: JsonObject;
  /** The body as it was sent: a part of the line. */
  readonly rawBody: Buffer;
  /** Fields beside those above. */
  readonly unknown: readonly string[];
}

/** Empty lines that are too many, as a multiple of those that may be full. */
const EMPTY_LINES = 10;
/** Digits of the largest number of a line. */
export const LINE_DIGITS = 5;
/** Bytes that a line may have beside its body. */
const AROUND_BODY = 64 * 1024;
const LINE_FEED = 10;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/**
 * @returns the lines with something in them
 * @throws PushError TOO_MANY_LINES, INVALID_ENCODING or EMPTY_BATCH
 */
export function readBatchLines(whole: Buffer, limits: BatchLimits): RawLine[] {
  const most = mostLineFeeds(limits);
  if (countLineFeeds(whole, most + 1) > most) throw tooMany(TEXTS.tooManyLineFeeds(most));
  const lines = splitLines(whole);
  if (!isUtf8(whole)) throw wrongEncoding(lines);
  if (lines.length > limits.lines) throw tooMany(TEXTS.tooManyLines(limits.lines));
  if (lines.length === 0) throw new PushError('EMPTY_BATCH');
  return lines;
}

/** At least as many lines as a batch has with something in them; of one that is too long not many more than allowed. */
export function mostLines(whole: Buffer, limits: BatchLimits): number {
  return countLineFeeds(whole, mostLineFeeds(limits) + 1) + 1;
}

const mostLineFeeds = ({ lines }: BatchLimits) => EMPTY_LINES * lines;

/** Counts up to `most`: a batch may consist of millions of line feeds. */
function countLineFeeds(whole: Buffer, most: number): number {
  let count = 0;
  for (let at = whole.indexOf(LINE_FEED); at !== -1; at = whole.indexOf(LINE_FEED, at + 1)) {
    count += 1;
    if (count === most) break;
  }
  return count;
}

function tooMany(text: Text): PushError {
  return new PushError('TOO_MANY_LINES', { errors: [problem('(body)', text)] });
}

/** It names the first line that is not UTF-8. */
function wrongEncoding(lines: readonly RawLine[]): PushError {
  const line = lines.find(({ bytes }) => !isUtf8(bytes));
  const errors = line ? [problem('(body)', TEXTS.encodingOfLine(line.number))] : [];
  return new PushError('INVALID_ENCODING', { errors });
}

function splitLines(whole: Buffer): RawLine[] {
  const hasMark = whole.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const lines: RawLine[] = [];
  let number = 0;
  for (let start = hasMark ? BYTE_ORDER_MARK.length : 0; start < whole.length; ) {
    const found = whole.indexOf(LINE_FEED, start);
    const end = found === -1 ? whole.length : found;
    number += 1;
    if (!isBlank(whole, start, end)) lines.push({ number, bytes: whole.subarray(start, end) });
    start = end + 1;
  }
  return lines;
}

/** Of blanks, tabs and carriage returns alone. */
function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}

/** @returns the line, or the PushError INVALID_JSON, VALIDATION_FAILED or BODY_TOO_LARGE that it is rejected with */
export function readLine(line: RawLine, limits: BatchLimits): ReadLine | PushError {
  if (line.bytes.length > limits.bodyBytes + AROUND_BODY) return new PushError('BODY_TOO_LARGE');
  const tooMuch = structureProblem(line.bytes, 1, '(line)');
  if (tooMuch) return new PushError('VALIDATION_FAILED', { errors: [tooMuch] });
  const json = parse(line.bytes);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return new PushError('INVALID_JSON', { errors: [problem('(line)', TEXTS.line)] });
  }
  if (!isLine(json)) {
    const { error } = batchLine.safeParse(json, inBoth);
    return new PushError('VALIDATION_FAILED', { errors: error ? fieldErrors(error) : [] });
  }
  const rawBody = bodySpan(line.bytes);
  if (rawBody.length > limits.bodyBytes) return new PushError('BODY_TOO_LARGE');
  const { op, key, body } = json;
  return {
    number: line.number,
    bytes: line.bytes,
    op,
    key,
    body,
    rawBody,
    unknown: unknownIn(json),
  };
}

const FIELDS: ReadonlySet<string> = new Set(Object.keys(batchLine.shape));
const NONE: readonly string[] = [];

/** There are none in nearly every line: that is told by their count. */
function unknownIn(json: Pick<ReadLine, 'key'>): readonly string[] {
  const names = Object.keys(json);
  const known = json.key === undefined ? FIELDS.size - 1 : FIELDS.size;
  return names.length === known ? NONE : names.filter((name) => !FIELDS.has(name));
}

/** As `batchLine`, which makes a copy of the body, and names what is wrong. */
function isLine(json: object): json is Pick<ReadLine, 'op' | 'key' | 'body'> {
  const { op, key, body } = json as Readonly<Record<string, unknown>>;
  const isKey = key === undefined || (typeof key === 'string' && IDEMPOTENCY_KEY.test(key));
  const isBody = typeof body === 'object' && body !== null && !Array.isArray(body);
  return isKey && isBody && (OPERATIONS as readonly unknown[]).includes(op);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    // Not parsing is the answer itself; JSON has no undefined.
    return undefined;
  }
}
