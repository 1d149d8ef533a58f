/** Recognizes an input file, and counts its lines for the time left. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

export interface Fingerprint {
  readonly size: number;
  readonly sha256: string;
  /** Lines with something in them. */
  readonly lines: number;
}

const LINE_FEED = 10;
const BLOCK = 1024 * 1024;

/** Reads the whole file once: a change anywhere in it means that line numbers may have moved. */
export async function fingerprintOf(path: string): Promise<Fingerprint> {
  const hash = createHash('sha256');
  let size = 0;
  let lines = 0;
  let length = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: BLOCK })) {
    const block: Buffer = chunk;
    hash.update(block);
    size += block.length;
    let start = 0;
    for (let end = block.indexOf(LINE_FEED); end !== -1; end = block.indexOf(LINE_FEED, start)) {
      // One byte is the carriage return of a blank line.
      if (length + end - start > 1) lines += 1;
      length = 0;
      start = end + 1;
    }
    length += block.length - start;
  }
  if (length > 1) lines += 1;
  return { size, sha256: hash.digest('hex'), lines };
}
