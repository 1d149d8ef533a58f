/**
 * The log's way to stdout. A process must not stand still, or not end, because the reader of its log has stopped
 * reading: lines wait in memory up to a limit, and further lines are dropped and counted.
 */
import type { Writable } from 'node:stream';
import type { DestinationStream } from 'pino';

/** Bytes of lines that wait for the reader. */
const MAX_WAITING = 8 * 1024 * 1024;

export interface LogOutput extends DestinationStream {
  /** Waits until all lines are written, but no longer than so many milliseconds. */
  flush(timeout: number): Promise<void>;
}

export function createLogOutput(
  stream: Writable = process.stdout,
  maxWaiting = MAX_WAITING,
): LogOutput {
  let dropped = 0;
  let isClosed = false;
  // The reader has ended: the process goes on without a log.
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
  const msg = 'log lines were dropped: the reader of the log had stopped reading';
  return `${JSON.stringify({ level: 40, time: new Date().toISOString(), dropped, msg })}\n`;
}
