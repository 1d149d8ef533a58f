/**
 * Lines that failed for good, in a form that can be pushed again after mending: `parsePushLine` reads
 * it, and knows the line in a `text`.
 */
import { closeSync, existsSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import type { MatterPushError } from '../../client/error';
import { type BadLine, type PushLine, REPLACEMENT } from './push-line';

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
 * A rejected push. The idempotency key stays with it: should the push have been applied after all
 * (its answer was lost), pushing it again changes nothing.
 */
export function rejectedLine(push: PushLine, error: MatterPushError): object {
  const { code, reason, message, requestId, idempotencyKey: key } = error;
  const whole: object = JSON.parse(push.text);
  // Beside the body, which is known to be, there may be what cannot be written.
  const json = isWritable(whole) ? whole : { op: push.op, body: JSON.parse(String(push.body)) };
  return { ...json, key, line: push.number, code, reason, message, requestId };
}

/**
 * `x.failed.ndjson` of `x`, and then `x.failed.2.ndjson`, `x.failed.3.ndjson`: what fails of a failure
 * file has a name that is no longer.
 */
export function failureFileOf(file: string): string {
  const [, source, nth] = /^(.+)\.failed(?:\.([1-9]\d{0,5}))?\.ndjson$/.exec(file) ?? [];
  if (source === undefined) return `${file}.failed.ndjson`;
  return `${source}.failed.${nth === undefined ? 2 : Number(nth) + 1}.ndjson`;
}

/** A line that was never sent: as it stands where it is JSON, else its text. */
export function badLine({ number: line, reason, message, text }: BadLine): object {
  const told = { line, code: null, reason, message, requestId: null };
  try {
    const json: unknown = text.includes(REPLACEMENT) ? undefined : JSON.parse(text);
    const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
    if (isObject && isWritable(json)) return { ...json, ...told };
  } catch {
    // Not JSON, which is what is being reported.
  }
  return { text, ...told };
}

/** What is nested too deeply can be read, and not written again. */
function isWritable(json: object): boolean {
  try {
    JSON.stringify(json);
    return true;
  } catch {
    // RangeError: the depth of the call stack.
    return false;
  }
}
