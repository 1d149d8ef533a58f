/** Splits a batch into lines and parses the lines (contract 7.2). */
import { isUtf8 } from 'node:buffer';
import { OPERATIONS, type OperationName } from '../domain/operation';
import { batchLine } from './batch';
import { arrayStart, bodySpan, splitArray } from './batch-array';
import { PushError, problem } from './errors';
import { IDEMPOTENCY_KEY } from './headers';
import { fieldErrors, type JsonObject, structureProblem } from './json-body';
import type { Text } from './language';
import { bilingualErrors, TEXTS } from './texts';

export interface BatchLimits {
  /** Maximum number of lines that are not empty. */
  readonly lines: number;
  /** Maximum bytes of the body of one line. */
  readonly bodyBytes: number;
}

export interface RawLine {
  /** Number of the line or of the array element, from 1. Empty lines are counted. */
  readonly number: number;
  readonly bytes: Buffer;
}

/** A parsed line: `op` and `key` are valid, `body` is not validated yet. */
export interface ReadLine extends RawLine {
  readonly op: OperationName;
  readonly key: string | undefined;
  readonly body: JsonObject;
  readonly rawBody: Buffer;
  /** Names of fields of the line other than `op`, `key` and `body`. */
  readonly unknownLineFields: readonly string[];
}

/** Maximum line feeds of NDJSON, as a multiple of `BatchLimits.lines`. This maximum also limits the empty lines. */
const MAX_FEEDS_PER_LINE = 10;
/** Number of digits of the largest line number. */
export const LINE_DIGITS = 5;
/** Maximum bytes of a line in addition to `BatchLimits.bodyBytes`. */
const AROUND_BODY = 64 * 1024;
const LINE_FEED = 10;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/**
 * Callers must run this generator with `runInSlices`, because a large batch takes long to split.
 *
 * @returns the lines that are not empty, or the elements of an array
 * @throws PushError TOO_MANY_LINES, INVALID_ENCODING, EMPTY_BATCH or INVALID_JSON
 */
export function* readBatchLines(batch: Buffer, limits: BatchLimits): Generator<void, RawLine[]> {
  const elements = yield* splitElements(batch, limits);
  const { lines, error } = elements ?? { lines: splitLines(batch, limits) };
  if (!isUtf8(batch)) throw wrongEncoding(lines);
  if (lines.length > limits.lines) throw tooMany(TEXTS.tooManyLines(limits.lines));
  if (error) throw error;
  if (lines.length === 0) throw new PushError('EMPTY_BATCH');
  return lines;
}

/** @returns an upper bound for the number of lines that `readBatchLines` returns */
export function* maxLineCount(batch: Buffer, limits: BatchLimits): Generator<void, number> {
  const elements = yield* splitElements(batch, limits);
  return elements
    ? Math.max(1, elements.lines.length)
    : countLineFeeds(batch, maxLineFeeds(limits) + 1) + 1;
}

interface Elements {
  readonly lines: RawLine[];
  /** Set if the array is broken. */
  readonly error?: PushError;
}

function* splitElements(batch: Buffer, limits: BatchLimits): Generator<void, Elements | undefined> {
  const start = arrayStart(batch, afterMark(batch));
  if (start === undefined) return undefined;
  const { elements, wrongAt } = yield* splitArray(batch, start, limits.lines);
  const lines = elements.map((bytes, index) => ({ number: index + 1, bytes }));
  if (wrongAt === undefined) return { lines };
  const errors = [problem('(body)', TEXTS.brokenArray(wrongAt, lines.length + 1))];
  return { lines, error: new PushError('INVALID_JSON', { errors }) };
}

const maxLineFeeds = ({ lines }: BatchLimits) => MAX_FEEDS_PER_LINE * lines;

/** Counts at most `max` line feeds. */
function countLineFeeds(batch: Buffer, max: number): number {
  let count = 0;
  for (let at = batch.indexOf(LINE_FEED); at !== -1; at = batch.indexOf(LINE_FEED, at + 1)) {
    count += 1;
    if (count === max) break;
  }
  return count;
}

function tooMany(text: Text): PushError {
  return new PushError('TOO_MANY_LINES', { errors: [problem('(body)', text)] });
}

function wrongEncoding(lines: readonly RawLine[]): PushError {
  const line = lines.find(({ bytes }) => !isUtf8(bytes));
  const errors = line ? [problem('(body)', TEXTS.encodingOfLine(line.number))] : [];
  return new PushError('INVALID_ENCODING', { errors });
}

const afterMark = (batch: Buffer) =>
  batch.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;

function splitLines(batch: Buffer, limits: BatchLimits): RawLine[] {
  const max = maxLineFeeds(limits);
  if (countLineFeeds(batch, max + 1) > max) throw tooMany(TEXTS.tooManyLineFeeds(max));
  const lines: RawLine[] = [];
  let number = 0;
  for (let start = afterMark(batch); start < batch.length; ) {
    const found = batch.indexOf(LINE_FEED, start);
    const end = found === -1 ? batch.length : found;
    number += 1;
    if (!isBlank(batch, start, end)) lines.push({ number, bytes: batch.subarray(start, end) });
    start = end + 1;
  }
  return lines;
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}

/** @returns the parsed line, or a PushError INVALID_JSON, VALIDATION_FAILED or BODY_TOO_LARGE */
export function readLine(line: RawLine, limits: BatchLimits): ReadLine | PushError {
  if (line.bytes.length > limits.bodyBytes + AROUND_BODY) return new PushError('BODY_TOO_LARGE');
  const excess = structureProblem(line.bytes, 1, '(line)');
  if (excess) return new PushError('VALIDATION_FAILED', { errors: [excess] });
  const json = parse(line.bytes);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return new PushError('INVALID_JSON', { errors: [problem('(line)', TEXTS.line)] });
  }
  if (!isLine(json)) {
    const { error } = batchLine.safeParse(json, bilingualErrors);
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
    unknownLineFields: unknownIn(json),
  };
}

const FIELDS: ReadonlySet<string> = new Set(Object.keys(batchLine.shape));
const NONE: readonly string[] = [];

/** Compares the number of fields first, for speed. A valid line with `known` fields has no unknown field. */
function unknownIn(json: Pick<ReadLine, 'key'>): readonly string[] {
  const names = Object.keys(json);
  const known = json.key === undefined ? FIELDS.size - 1 : FIELDS.size;
  return names.length === known ? NONE : names.filter((name) => !FIELDS.has(name));
}

/** A faster check than the schema `batchLine`. The check and the schema must accept the same lines. */
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
    // `undefined` means invalid JSON, because `JSON.parse` never returns `undefined`.
    return undefined;
  }
}
