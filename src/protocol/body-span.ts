/** Finds the bytes of the body in a line of a batch. The push log stores and hashes exactly these bytes. */
import { afterBlanks, COLON, COMMA, QUOTE } from './batch-array';
import { endOfString } from './json-body';

const BACKSLASH = 0x5c;
const BODY = Buffer.from('"body"');

/**
 * Finds the bytes of the field `body` in a line.
 *
 * @param line a JSON object that `JSON.parse` accepts and that has the field
 * @returns a slice of the same memory; if the field occurs twice, the last one, as in `JSON.parse`
 */
export function bodySpan(line: Buffer): Buffer {
  let found = line.subarray(0, 0);
  let at = line.indexOf(0x7b) + 1;
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

// Runs for each byte of a batch; a lookup in a set would take several times as long.
const isOpening = (byte: number) => byte === 0x7b || byte === 0x5b;
const isClosing = (byte: number) => byte === 0x7d || byte === 0x5d;

/** Whether a name, in quotes, is `body`. It may contain escapes. */
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
