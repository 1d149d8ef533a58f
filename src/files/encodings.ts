/**
 * Detects the encoding of a text file (contract 9). Uses no Node API, because the page /console imports this file.
 */

/** Each call reads the file from its first byte. */
export type ReadBytes = () => AsyncIterable<Uint8Array>;

export type Detected =
  | { readonly encoding: string; readonly problem?: undefined }
  | { readonly problem: EncodingProblem; readonly encoding?: undefined };

/**
 * Why a file is rejected:
 * - `damaged`: some bytes are invalid in the stated encoding
 * - `mostly-utf-8`: UTF-8 with some invalid bytes
 * - `doubtful`: valid GBK, but probably another encoding
 * - `unmarked`: UTF-16 without a byte order mark
 * - `unknown`: neither UTF-8 nor GBK
 */
export interface EncodingProblem {
  readonly why: 'damaged' | 'mostly-utf-8' | 'doubtful' | 'unmarked' | 'unknown';
  /** The line that the user should check, from 1. */
  readonly line: number;
  readonly encoding: string;
  /** Only for `doubtful`: the decoded start of the line. */
  readonly sample: string;
}

const [UTF_8, GBK] = ['utf-8', 'gb18030'];
const MARKS: readonly (readonly [encoding: string, ...mark: readonly number[]])[] = [
  [UTF_8, 0xef, 0xbb, 0xbf],
  ['utf-16le', 0xff, 0xfe],
  ['utf-16be', 0xfe, 0xff],
];
const LINE_FEED = 10;

/** The encoding that the byte order mark states. */
export const markedEncoding = (start: Uint8Array): string | undefined =>
  MARKS.find(([, ...mark]) => mark.every((byte, at) => start[at] === byte))?.[0];

export const encodingName = (encoding: string): string => encoding.toUpperCase();

/** @param requested the encoding that the user states, as a label of TextDecoder */
export async function detectEncoding(read: ReadBytes, requested?: string): Promise<Detected> {
  const start = await firstBytes(read);
  const named = requested ?? markedEncoding(start);
  if (named !== undefined) {
    const line = await damagedLine(read, named);
    if (line === undefined) return { encoding: named };
    return { problem: { why: 'damaged', line, encoding: named, sample: '' } };
  }
  // In UTF-16, every ASCII character has a NUL byte.
  if (start.filter((byte) => byte === 0).length * 10 > start.length) {
    return { problem: { why: 'unmarked', line: 1, encoding: 'utf-16le', sample: '' } };
  }
  const utf8 = await scanUtf8(read);
  if (utf8.invalid === 0) return { encoding: UTF_8 };
  if (utf8.valid >= 2 * utf8.invalid) {
    return { problem: { why: 'mostly-utf-8', line: utf8.badLine, encoding: UTF_8, sample: '' } };
  }
  return detectGbk(read);
}

async function detectGbk(read: ReadBytes): Promise<Detected> {
  const damaged = await damagedLine(read, GBK);
  if (damaged !== undefined) {
    return { problem: { why: 'unknown', line: damaged, encoding: GBK, sample: '' } };
  }
  const scan = new GbkScan();
  for await (const bytes of read()) scan.take(bytes);
  if (!scan.isDoubtful()) return { encoding: GBK };
  const sample = await lineText(read, GBK, scan.line);
  return { problem: { why: 'doubtful', line: scan.line, encoding: GBK, sample } };
}

async function firstBytes(read: ReadBytes): Promise<Uint8Array> {
  for await (const bytes of read()) if (bytes.length > 0) return bytes.subarray(0, 4_096);
  return new Uint8Array();
}

async function damagedLine(read: ReadBytes, encoding: string): Promise<number | undefined> {
  if (encoding === UTF_8) {
    const { invalid, badLine } = await scanUtf8(read);
    return invalid === 0 ? undefined : badLine;
  }
  const decoder = new TextDecoder(encoding);
  let line = 1;
  const isDamaged = (text: string) => {
    const at = text.indexOf('\ufffd');
    line += countLineFeeds(at === -1 ? text : text.slice(0, at));
    return at !== -1;
  };
  for await (const bytes of read()) {
    if (isDamaged(decoder.decode(bytes, { stream: true }))) return line;
  }
  return isDamaged(decoder.decode()) ? line : undefined;
}

function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Maximum characters of a sample. */
const SAMPLE = 40;

async function lineText(read: ReadBytes, encoding: string, line: number): Promise<string> {
  const decoder = new TextDecoder(encoding);
  let left = line - 1;
  let found = '';
  for await (const bytes of read()) {
    for (const [at, part] of decoder.decode(bytes, { stream: true }).split('\n').entries()) {
      if (at > 0) left -= 1;
      if (left < 0 || found.length > SAMPLE) return found.trim().slice(0, SAMPLE);
      if (left === 0) found += part;
    }
  }
  return found.trim().slice(0, SAMPLE);
}

async function scanUtf8(read: ReadBytes): Promise<Utf8Scan> {
  const scan = new Utf8Scan();
  for await (const bytes of read()) scan.take(bytes);
  scan.end();
  return scan;
}

/** Counts the bytes of valid non-ASCII characters, and the invalid bytes. */
class Utf8Scan {
  valid = 0;
  invalid = 0;
  badLine = 0;
  #line = 1;
  /** Total bytes of the unfinished character. */
  #size = 0;
  /** Missing bytes of the unfinished character. */
  #need = 0;
  #low = 0x80;
  #high = 0xbf;

  take(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.#need > 0) {
        if (byte >= this.#low && byte <= this.#high) {
          this.#continue();
          continue;
        }
        this.end();
      }
      if (byte >= 0x80) this.#begin(byte);
      else if (byte === LINE_FEED) this.#line += 1;
    }
  }

  end(): void {
    if (this.#need > 0) this.#bad(this.#size - this.#need);
    this.#need = 0;
  }

  #continue(): void {
    this.#need -= 1;
    this.#low = 0x80;
    this.#high = 0xbf;
    if (this.#need === 0) this.valid += this.#size;
  }

  #begin(lead: number): void {
    const size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (size === 0) {
      this.#bad(1);
      return;
    }
    this.#size = size;
    this.#need = size - 1;
    // The range of the second byte excludes overlong forms, surrogates and code points above U+10FFFF.
    this.#low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    this.#high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  }

  #bad(bytes: number): void {
    this.invalid += bytes;
    this.badLine ||= this.#line;
  }
}

/** A text with many rare characters is probably not GBK. */
class GbkScan {
  #all = 0;
  /** Number of characters that Chinese texts rarely contain, for example Greek letters. */
  #rare = 0;
  #rareLine = 0;
  #secondLevel = 0;
  #secondLevelLine = 0;
  #private = 0;
  #line = 1;
  #lead = 0;
  #skip = 0;

  take(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.#skip > 0) this.#skip -= 1;
      else if (this.#lead > 0) this.#classify(byte);
      else if (byte > 0x80) this.#lead = byte;
      else if (byte === LINE_FEED) this.#line += 1;
    }
  }

  get line(): number {
    return this.#rareLine || this.#secondLevelLine;
  }

  isDoubtful(): boolean {
    const isStrange =
      this.#rare * 4 > this.#all || (this.#rare + this.#secondLevel) * 2 > this.#all;
    return isStrange || this.#private * 50 > this.#all;
  }

  /** `byte` is the second byte of a character. If `byte` is a digit, two more bytes follow. */
  #classify(byte: number): void {
    const lead = this.#lead;
    this.#lead = 0;
    this.#all += 1;
    const isLong = byte >= 0x30 && byte <= 0x39;
    if (isLong) this.#skip = 2;
    const isUpper = byte >= 0xa1;
    if (isUpper && ((lead >= 0xa1 && lead <= 0xa3) || (lead >= 0xb0 && lead <= 0xd7))) return;
    if (isUpper && lead >= 0xd8 && lead <= 0xf7) {
      this.#secondLevelLine ||= this.#line;
      this.#secondLevel += 1;
      return;
    }
    this.#rareLine ||= this.#line;
    this.#rare += 1;
    const isPrivate = isUpper
      ? (lead >= 0xaa && lead <= 0xaf) || lead >= 0xf8
      : lead >= 0xa1 && lead <= 0xa7;
    if (isPrivate && !isLong) this.#private += 1;
  }
}
