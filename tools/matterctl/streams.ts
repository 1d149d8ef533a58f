/** Streams that may be larger than the memory: cut into lines, gathered into lists, or cut off. */
import type { Readable } from 'node:stream';

/** Far above the service's BODY_LIMIT; a longer line is a file that is not NDJSON. */
const MAX_LINE = 16 * 1024 * 1024;
const LINE_FEED = 10;

export interface RawLine {
  /** From 1; blank lines count. */
  readonly number: number;
  /** Without its end. Undefined: the line was longer than `maxLine` and was not kept. */
  readonly bytes: Buffer | undefined;
}

/** Cuts a stream into lines, holding one line at most. @param maxLine longest line that is kept, in bytes */
export async function* readLines(
  input: Readable,
  maxLine: number = MAX_LINE,
): AsyncGenerator<RawLine> {
  let pieces: Buffer[] = [];
  let size = 0;
  let number = 0;
  const hold = (piece: Buffer) => {
    size += piece.length;
    if (size <= maxLine) pieces.push(piece);
    else pieces = [];
  };
  const take = (): RawLine => {
    const bytes = size > maxLine ? undefined : Buffer.concat(pieces);
    pieces = [];
    size = 0;
    number += 1;
    return { number, bytes };
  };
  for await (const chunk of input) {
    let rest: Buffer = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    for (let end = rest.indexOf(LINE_FEED); end !== -1; end = rest.indexOf(LINE_FEED)) {
      hold(rest.subarray(0, end));
      yield take();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) hold(rest);
  }
  if (size > 0) yield take();
}

/** The first items of many. @param onMore told that there are more */
export async function* upTo<T>(
  limit: number,
  items: AsyncIterable<T>,
  onMore: () => void,
): AsyncGenerator<T> {
  let count = 0;
  for await (const item of items) {
    if (count === limit) {
      onMore();
      return;
    }
    count += 1;
    yield item;
  }
}
