/** Answers that are longer than memory: lines of JSON, and the envelope as the last of them. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Envelope } from '../protocol/envelope';

const STALL_TIMEOUT = 30_000;

/** Rows in groups, which may be empty, and in the end `data` of the envelope. */
export type Lines = AsyncGenerator<readonly unknown[], unknown>;

/** Lines of which the first group is there: what fails before it still gets a plain answer. */
export interface BegunLines {
  readonly first: IteratorResult<readonly unknown[], unknown>;
  readonly rest: Lines;
}

/** The envelope that ends the lines. */
export interface LastLine {
  success(data: unknown): Envelope;
  failure(error: unknown): Envelope;
}

/**
 * Begins; from here on the lines are closed when the response is over, however it ends.
 *
 * @throws what the lines throw before their first group
 */
export async function beginLines(res: ServerResponse, rest: Lines): Promise<BegunLines> {
  const first = await rest.next();
  whenOver(res, () => {
    rest.return(undefined).catch(() => undefined);
  });
  return { first, rest };
}

/**
 * Calls `end` once, when the response was sent or its reader is gone, also where that has happened.
 * A response that waits behind another one is told nothing when their connection dies.
 */
export function whenOver(res: ServerResponse, end: () => void): void {
  const { socket } = res.req;
  if (res.destroyed || socket.destroyed) {
    end();
    return;
  }
  const isOver = () => {
    res.off('close', isOver);
    socket.off('close', isOver);
    end();
  };
  res.once('close', isOver);
  socket.once('close', isOver);
}

/**
 * The body of the response. It is made only as fast as it is taken.
 *
 * @param stallTimeout milliseconds in which the reader must take something
 */
export function writeLines(
  res: ServerResponse,
  lines: BegunLines,
  last: LastLine,
  stallTimeout = STALL_TIMEOUT,
): Readable {
  // The timer runs while nothing moves on the connection; with nothing to send, that is our fault.
  res.setTimeout(stallTimeout, () => {
    if (res.writableLength > 0) res.destroy();
  });
  return Readable.from(textOf(lines, last), { objectMode: false });
}

async function* textOf({ first, rest }: BegunLines, last: LastLine): AsyncGenerator<string> {
  let step = first;
  while (!step.done) {
    if (step.value.length > 0) yield step.value.map(toLine).join('');
    try {
      step = await rest.next();
    } catch (error) {
      yield toLine(last.failure(error));
      return;
    }
  }
  yield toLine(last.success(step.value));
}

const toLine = (value: unknown) => `${JSON.stringify(value)}\n`;
