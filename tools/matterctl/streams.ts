/** Reads streams that may be larger than the memory. */
import type { Readable } from 'node:stream';

/** Maximum bytes of a line, far above BODY_LIMIT of the service. A file with a longer line is not NDJSON. */
const MAX_LINE = 16 * 1024 * 1024;
const LINE_FEED = 10;

export interface TextLine {
  /** From 1. Blank lines are counted too. */
  readonly number: number;
  /** Without the line feed. Undefined if the line was longer than `maxLine`. */
  readonly bytes: Buffer | undefined;
}

/** Cuts a stream into lines. At most one line is in memory. @param maxLine maximum bytes of a line */
export async function* readTextLines(
  input: Readable,
  maxLine: number = MAX_LINE,
): AsyncGenerator<TextLine> {
  let pieces: Buffer[] = [];
  let size = 0;
  let number = 0;
  const hold = (piece: Buffer) => {
    size += piece.length;
    if (size <= maxLine) pieces.push(piece);
    else pieces = [];
  };
  const take = (): TextLine => {
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

/** Yields the first `limit` items. @param onMore called if there are more */
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
