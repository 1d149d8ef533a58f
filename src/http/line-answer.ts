/** Sends large answers line by line, as NDJSON. The last line is the envelope. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Envelope } from '../protocol/envelope';

/** The service disconnects a client that reads nothing for this many milliseconds. */
const STALL_TIMEOUT = 30_000;

/** Yields groups of lines, and returns `data` of the envelope. */
export type LineGroups = AsyncGenerator<readonly unknown[], unknown>;

/** `startLines` reads the first group before the answer begins. */
export interface StartedLines {
  readonly first: IteratorResult<readonly unknown[], unknown>;
  readonly rest: LineGroups;
}

export interface LastLine {
  success(data: unknown): Envelope;
  failure(error: unknown): Envelope;
}

/** Closes the generator when the response ends. @throws the generator's error if the first group fails */
export async function startLines(res: ServerResponse, rest: LineGroups): Promise<StartedLines> {
  const first = await rest.next();
  onResponseEnd(res, () => {
    rest.return(undefined).catch(() => undefined);
  });
  return { first, rest };
}

/**
 * Calls `end` once, when the response is sent or its connection closes. Some pipelined HTTP responses emit no `close`
 * event, but their socket does.
 */
export function onResponseEnd(res: ServerResponse, end: () => void): void {
  const { socket } = res.req;
  if (res.destroyed || socket.destroyed) {
    end();
    return;
  }
  const endOnce = () => {
    res.off('close', endOnce);
    socket.off('close', endOnce);
    end();
  };
  res.once('close', endOnce);
  socket.once('close', endOnce);
}

export function writeLines(
  res: ServerResponse,
  lines: StartedLines,
  last: LastLine,
  stallTimeout = STALL_TIMEOUT,
): Readable {
  // Unsent data means that the client does not read. Otherwise, the service has not produced the next line yet, and
  // the connection stays open.
  res.setTimeout(stallTimeout, () => {
    if (res.writableLength > 0) res.destroy();
  });
  return Readable.from(textOf(lines, last), { objectMode: false });
}

async function* textOf({ first, rest }: StartedLines, last: LastLine): AsyncGenerator<string> {
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
