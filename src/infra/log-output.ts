/**
 * Writes the log to stdout. If the reader of stdout stops reading, lines wait in memory. If too many lines wait, new
 * lines are dropped.
 */
import type { Writable } from 'node:stream';
import type { DestinationStream } from 'pino';

/** Maximum characters of the lines that wait in memory. */
const MAX_WAITING = 8 * 1024 * 1024;

export interface LogOutput extends DestinationStream {
  /** Waits until all lines are written, but at most `timeout` milliseconds. */
  flush(timeout: number): Promise<void>;
}

export function createLogOutput(
  stream: Writable = process.stdout,
  maxWaiting = MAX_WAITING,
): LogOutput {
  let dropped = 0;
  let isClosed = false;
  // An error means that the reader of stdout has ended. The process must continue without a log.
  stream.on('error', () => {
    isClosed = true;
  });
  return {
    write: (line) => {
      if (isClosed) return;
      if (stream.writableLength + line.length > maxWaiting) {
        dropped += 1;
        return;
      }
      if (dropped > 0) stream.write(droppedLine(dropped));
      dropped = 0;
      stream.write(line);
    },
    flush: (timeout) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, timeout);
        stream.write('', () => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}

function droppedLine(dropped: number): string {
  const msg = 'log lines were dropped, because the reader of stdout had stopped reading';
  return `${JSON.stringify({ level: 40, time: new Date().toISOString(), dropped, msg })}\n`;
}

/** Characters that must not reach a terminal. The zero-width joiner and non-joiner are allowed. */
export const UNPRINTABLE = /(?!\u200c|\u200d)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Replaces unprintable characters with JSON escapes such as `\u001b`. */
export const escapeUnprintable = (text: string): string =>
  text.replace(UNPRINTABLE, (found) => found.split('').map(toEscape).join(''));

const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
