/** Splits a JSON array of pushes into elements (contract 7.1). `readLine` (batch-lines.ts) parses the elements. */
import { endOfString, MAX_BRACKETS } from './json-body';

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export interface SplitArray {
  /** The bytes of each element before the first error, without surrounding blanks. */
  readonly elements: readonly Buffer[];
  /** Position of the first structural error; absent if `splitArray` found no error. */
  readonly wrongAt?: number;
}

/** Maximum blanks before the `[`. */
const MAX_BLANKS = 64 * 1024;

/** @returns position of the `[`; undefined if no `[` follows after at most MAX_BLANKS blanks */
export function arrayStart(batch: Buffer, from: number): number | undefined {
  const at = from + afterBlanks(batch.subarray(from, from + MAX_BLANKS), 0);
  return batch[at] === OPEN_LIST ? at : undefined;
}

const STEP = 64 * 1024;

/**
 * Reads at most `maxElements` + 1 elements, so that the caller can detect an array that is too long.
 *
 * @param start position of the `[`
 */
export function* splitArray(
  batch: Buffer,
  start: number,
  maxElements: number,
): Generator<void, SplitArray> {
  const elements: Buffer[] = [];
  let at = afterBlanks(batch, start + 1);
  if (batch[at] !== CLOSE_LIST) {
    for (;;) {
      const { end, isWrong } = yield* endOfValue(batch, at);
      if (isWrong) return { elements, wrongAt: end };
      elements.push(batch.subarray(at, end));
      yield;
      if (elements.length > maxElements) return { elements };
      at = afterBlanks(batch, end);
      if (batch[at] !== COMMA) break;
      at = afterBlanks(batch, at + 1);
    }
    if (batch[at] !== CLOSE_LIST) return { elements, wrongAt: at };
  }
  const rest = afterBlanks(batch, at + 1);
  return rest < batch.length ? { elements, wrongAt: rest } : { elements };
}

interface Reached {
  /** Position after the value; if `isWrong`, position of the first structural error. */
  readonly end: number;
  readonly isWrong: boolean;
}

const NONE = 0;

/** Rejects a value with more than MAX_BRACKETS nested levels. An empty list or object does not count as a level. */
function* endOfValue(bytes: Buffer, from: number): Generator<void, Reached> {
  /** The closing bracket of the current list or object; NONE outside of lists and objects. */
  let due = NONE;
  /** Stack: the closing brackets of the surrounding lists and objects. */
  const outer: number[] = [];
  let at = from;
  let pauseAt = from + STEP;
  for (;;) {
    if (at > pauseAt) {
      yield;
      pauseAt = at + STEP;
    }
    if (due === CLOSE_OBJECT) {
      const colon = bytes[at] === QUOTE ? afterBlanks(bytes, endOfString(bytes, at) + 1) : at;
      if (bytes[colon] !== COLON) return { end: at, isWrong: true };
      at = afterBlanks(bytes, colon + 1);
    }
    const byte = bytes[at];
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      const closer = byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_LIST;
      const inner = afterBlanks(bytes, at + 1);
      if (bytes[inner] !== closer) {
        if (outer.length === MAX_BRACKETS) return { end: at, isWrong: true };
        outer.push(due);
        due = closer;
        at = inner;
        continue;
      }
      at = inner + 1;
    } else {
      const end =
        byte === QUOTE ? endOfString(bytes, at) + 1 : afterWords(bytes, at, due === CLOSE_LIST);
      if (end === at || end > bytes.length) return { end: at, isWrong: true };
      at = end;
    }
    // Skips consecutive closing brackets.
    for (;;) {
      if (due === NONE) return { end: at, isWrong: false };
      at = afterBlanks(bytes, at);
      if (bytes[at] !== due) break;
      due = outer.pop() ?? NONE;
      at += 1;
    }
    if (bytes[at] !== COMMA) return { end: at, isWrong: true };
    at = afterBlanks(bytes, at + 1);
  }
}

/** Skips a word, for example a number or `true`. In a list, skips consecutive words and their commas, for speed. */
function afterWords(bytes: Buffer, from: number, isList: boolean): number {
  let at = from;
  for (;;) {
    while (KINDS[bytes[at] ?? 0] === WORD) at += 1;
    if (!isList || bytes[at] !== COMMA || KINDS[bytes[at + 1] ?? 0] !== WORD) return at;
    at += 1;
  }
}

/** @returns position of the first byte at or after `from` that is no JSON blank */
export function afterBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (KINDS[bytes[at] ?? 0] === BLANK) at += 1;
  return at;
}

const WORD = 0;
const SIGN = 1;
const BLANK = 2;
const SIGNS = [QUOTE, COLON, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT];

/** The kind of each byte value: WORD, SIGN or BLANK. */
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d) return BLANK;
  return byte < 0x20 || SIGNS.includes(byte) ? SIGN : WORD;
});

const BACKSLASH = 0x5c;
const BODY = Buffer.from('"body"');

/**
 * Finds the exact bytes of the field `body`.
 *
 * @param line valid JSON: an object with the field `body`
 * @returns a slice of `line`: the value of `body`. Of several fields `body`, the last one counts, as in `JSON.parse`.
 */
export function bodySpan(line: Buffer): Buffer {
  let found = line.subarray(0, 0);
  let at = line.indexOf(OPEN_OBJECT) + 1;
  while (at < line.length) {
    const key = line.indexOf(QUOTE, at);
    if (key === -1) break;
    const keyEnd = endOfString(line, key) + 1;
    const value = afterBlanks(line, line.indexOf(COLON, keyEnd) + 1);
    at = afterValue(line, value);
    if (isBody(line.subarray(key, keyEnd))) found = line.subarray(value, at);
    at = afterBlanks(line, at);
    if (line[at] !== COMMA) break;
  }
  return found;
}

const isOpening = (byte: number) => byte === OPEN_OBJECT || byte === OPEN_LIST;
const isClosing = (byte: number) => byte === CLOSE_OBJECT || byte === CLOSE_LIST;

/** @param key a field name in quotes; the name can contain escapes */
const isBody = (key: Buffer) =>
  key.equals(BODY) || (key.includes(BACKSLASH) && JSON.parse(key.toString('utf8')) === 'body');

/** @returns position after the value, before trailing blanks */
function afterValue(line: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  let end = from;
  while (at < line.length) {
    const byte = line[at] ?? 0;
    if (depth === 0 && (byte === COMMA || isClosing(byte))) break;
    if (byte === QUOTE) at = endOfString(line, at) + 1;
    else {
      if (isOpening(byte)) depth += 1;
      else if (isClosing(byte)) depth -= 1;
      at += 1;
    }
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d && byte !== 0x0a) end = at;
  }
  return end;
}
