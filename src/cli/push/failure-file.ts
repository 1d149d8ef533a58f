/** Lines that failed for good, in a form that can be pushed again after mending. */
import { closeSync, existsSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import type { MatterPushError } from '../../client/error';
import type { BadLine, PushLine } from './push-line';

export interface FailureFile {
  /** Written before the line counts as done; failures are few, so it may block. */
  add(failure: object): void;
  /** Bytes written. */
  size(): number;
  close(): void;
}

/**
 * Opens the file with the first failure.
 *
 * @param keep bytes of it that belong to the run that is continued; what stands behind them is of
 *   lines that will be pushed again
 */
export function createFailureFile(path: string, keep: number): FailureFile {
  let fd: number | undefined;
  // Somebody may have moved it away meanwhile.
  let size = existsSync(path) ? keep : 0;
  if (size > 0) truncateSync(path, size);
  else rmSync(path, { force: true });
  return {
    add: (failure) => {
      fd ??= openSync(path, 'a', 0o600);
      size += writeSync(fd, `${JSON.stringify(failure)}\n`);
    },
    size: () => size,
    close: () => {
      if (fd !== undefined) closeSync(fd);
    },
  };
}

/**
 * A refused push. The idempotency key stays with it: should the push have been applied after all
 * (its answer was lost), pushing it again changes nothing.
 */
export function refusedLine({ number: line, text }: PushLine, error: MatterPushError): object {
  const { code, reason, message, requestId, idempotencyKey: key } = error;
  return { ...JSON.parse(text), key, line, code, reason, message, requestId };
}

/** A line that was never sent: as it stands where it is JSON, else its text. */
export function badLine({ number: line, reason, message, text }: BadLine): object {
  const told = { line, code: null, reason, message, requestId: null };
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === 'object' && json !== null && !Array.isArray(json))
      return { ...json, ...told };
  } catch {
    // Not JSON, which is what is being reported.
  }
  return { text, ...told };
}
