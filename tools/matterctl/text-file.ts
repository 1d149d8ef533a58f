/** Reads text files of other tools in their encodings. */
import { createReadStream, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  detectEncoding,
  type EncodingProblem,
  encodingName,
  markedEncoding,
  type ReadBytes,
} from '../../src/files/encodings';

const UTF_8 = 'utf-8';

/** Parses the name of an encoding. @returns the name that TextDecoder uses */
function toEncoding(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    throw new InvalidArgumentError('It must be an encoding such as utf-8, gbk, utf-16le or big5.');
  }
}

/** Adds the option that names the encoding of a file. */
export const withEncoding = (command: Command) =>
  command.addOption(
    new Option(
      '--encoding <name>',
      'of the file (default: UTF-8, UTF-16 with a byte order mark, or GBK, as it looks)',
    ).argParser(toEncoding),
  );

export type TextFile =
  | {
      readonly encoding: string;
      /** The whole text in parts, without a byte order mark. Each call starts at the beginning. */
      readonly pieces: () => AsyncGenerator<string>;
      readonly problem?: undefined;
    }
  | { readonly problem: EncodingProblem; readonly encoding?: undefined };

/** @param given the encoding that the user names; undefined: it is detected */
export const openTextFile = (path: string, given: string | undefined): Promise<TextFile> =>
  openText(() => createReadStream(path), given);

export async function openText(read: ReadBytes, given?: string): Promise<TextFile> {
  const { encoding, problem } = await detectEncoding(read, given);
  return problem ? { problem } : { encoding, pieces: () => decoded(read(), encoding) };
}

/** The message about a file whose encoding is doubtful. It names the line and what to do. */
export function encodingMessage(
  file: string,
  { why, line, encoding, sample }: EncodingProblem,
): string {
  const at = `${file}:${line}:`;
  switch (why) {
    case 'damaged':
      return `${at} this is not ${encodingName(encoding)}`;
    case 'mostly-utf-8':
      return `${at} this is not UTF-8, but the file is UTF-8 otherwise: correct the line, or give --encoding`;
    case 'doubtful':
      return `${at} read as GBK this is "${sample}", which looks wrong: give --encoding, for example big5, shift_jis or gbk`;
    case 'unmarked':
      return `${at} this looks like UTF-16 without a byte order mark: give --encoding utf-16le`;
    case 'unknown':
      return `${at} this is neither UTF-8 nor GBK: give --encoding, or save the file as "CSV UTF-8"`;
  }
}

/** Converts a stream to UTF-8. If the result is destroyed, the input is destroyed too. */
export const asUtf8 = (input: Readable, encoding: string): Readable =>
  encoding === UTF_8 ? input : pipeline(input, new ToUtf8(encoding), () => undefined);

/**
 * Like `asUtf8`, for a stream that can be read only once. Without `given`, its byte order mark determines the encoding.
 */
export const markedAsUtf8 = (input: Readable, given: string | undefined): Readable =>
  pipeline(input, new ToUtf8(given), () => undefined);

/** Length of the longest byte order mark, in bytes. */
const MARK = 3;

class ToUtf8 extends Transform {
  readonly #given: string | undefined;
  #start: Buffer | undefined = Buffer.alloc(0);
  #decoder: TextDecoder | undefined;

  constructor(given: string | undefined) {
    super();
    this.#given = given;
  }

  override _transform(chunk: Buffer | string, _: BufferEncoding, done: TransformCallback): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    this.#pass(done, () => {
      if (!this.#start) return this.#convert(bytes);
      this.#start = Buffer.concat([this.#start, bytes]);
      return this.#start.length < MARK ? undefined : this.#begin();
    });
  }

  override _flush(done: TransformCallback): void {
    this.#pass(done, () => {
      const parts = [this.#begin(), this.#decoder && Buffer.from(this.#decoder.decode())];
      return Buffer.concat(parts.filter((part) => part !== undefined));
    });
  }

  #pass(done: TransformCallback, work: () => Buffer | undefined): void {
    try {
      done(null, work());
    } catch (error) {
      done(error as Error);
    }
  }

  #begin(): Buffer | undefined {
    const start = this.#start;
    if (!start) return undefined;
    this.#start = undefined;
    const encoding = this.#given ?? markedEncoding(start) ?? UTF_8;
    if (encoding !== UTF_8) this.#decoder = new TextDecoder(encoding, { fatal: true });
    return this.#convert(start);
  }

  #convert(bytes: Buffer): Buffer {
    return this.#decoder ? Buffer.from(this.#decoder.decode(bytes, { stream: true })) : bytes;
  }
}

/** @throws TypeError if bytes are invalid in this encoding */
async function* decoded(
  input: AsyncIterable<Uint8Array>,
  encoding: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  for await (const bytes of input) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}

/**
 * Reads a file with one line, such as a secret. It may be UTF-16, which Windows PowerShell writes.
 *
 * @throws the system error if the file cannot be read
 */
export const readLineFile = async (path: string): Promise<string> =>
  markedText(await readFile(path));

/** Like `readLineFile`, for parsers of options, which are synchronous. */
export const readLineFileSync = (path: string): string => markedText(readFileSync(path));

const markedText = (bytes: Uint8Array): string =>
  new TextDecoder(markedEncoding(bytes)).decode(bytes).trim();
