/**
 * From the lines of a batch to pushes: each with its key, its own id where the service assigns one, and all
 * that is wrong with it. The same for a batch and for its dry run.
 */
import { TimeSlice } from '../concurrency/time-slice';
import { derivedKey, MAX_KEY } from '../protocol/batch';
import {
  type BatchLimits,
  LINE_DIGITS,
  type RawLine,
  type ReadLine,
  readLine,
} from '../protocol/batch-lines';
import { type Problem, PushError, problem } from '../protocol/errors';
import type { JsonObject } from '../protocol/json-body';
import { TEXTS } from '../protocol/texts';
import type { CheckBodies } from './check-bodies';
import type { PushHeaders } from './push-request';
import type { CheckedBody } from './validate-push';

export interface BatchReader {
  readonly checkBodies: CheckBodies;
  readonly limits: BatchLimits;
}

/** A line, and what is known of it. */
export interface CheckedLine {
  readonly line: RawLine;
  /** Undefined where it cannot be read. */
  readonly read: ReadLine | undefined;
  /** Its own key, or that which its batch gives it. */
  readonly key: string | undefined;
  readonly checked: CheckedBody | PushError;
  /** Its key is that of another line: it is no retry of anything. */
  readonly isRepeated: boolean;
}

/** A key of a batch leaves room for the number of a line. */
const MAX_BATCH_KEY = MAX_KEY - 1 - LINE_DIGITS;

/** @throws PushError VALIDATION_FAILED where something is wrong with the headers, which hold for all lines */
export function checkBatchHeaders({ headerErrors, idempotencyKey = '' }: PushHeaders): void {
  const tooLong = problem('X-Idempotency-Key', TEXTS.batchKey(MAX_BATCH_KEY));
  const errors: readonly Problem[] =
    idempotencyKey.length > MAX_BATCH_KEY ? [...headerErrors, tooLong] : headerErrors;
  if (errors.length > 0) throw new PushError('VALIDATION_FAILED', { errors });
}

/** @returns one for each line, in their order */
export async function checkLines(
  { checkBodies, limits }: BatchReader,
  lines: readonly RawLine[],
  { idempotencyKey: batchKey, strictFields }: PushHeaders,
): Promise<CheckedLine[]> {
  const keys = new Map<string, number>();
  const found: ReadKey[] = [];
  const slice = new TimeSlice();
  // The batch was cut into lines a moment ago.
  await slice.next();
  for (const line of lines) {
    if (slice.isOver()) await slice.next();
    found.push(readWithKey(line, limits, batchKey, keys));
  }
  const headerErrors: readonly Problem[] = [];
  const bodies = found.flatMap(({ read, error }): Body[] =>
    read && !error
      ? [[read.body, { operation: read.op, headerErrors, strictFields, unknown: read.unknown }]]
      : [],
  );
  const checked = (await checkBodies(bodies)).values();
  return found.map(({ line, read, key, error }) => ({
    line,
    read,
    key,
    checked: error ?? (checked.next().value as CheckedBody | PushError),
    isRepeated: read !== undefined && error !== undefined,
  }));
}

interface ReadKey extends Pick<CheckedLine, 'line' | 'read' | 'key'> {
  readonly error: PushError | undefined;
}

/** @param keys of the lines before it, with their numbers */
function readWithKey(
  line: RawLine,
  limits: BatchLimits,
  batchKey: string | undefined,
  keys: Map<string, number>,
): ReadKey {
  const read = readLine(line, limits);
  if (read instanceof PushError) return { line, read: undefined, key: undefined, error: read };
  const key = read.key ?? (batchKey === undefined ? undefined : derivedKey(batchKey, line.number));
  if (key === undefined) return { line, read, key, error: undefined };
  const named = `${read.op} ${key}`;
  const before = keys.get(named);
  if (before === undefined) keys.set(named, line.number);
  return { line, read, key, error: before === undefined ? undefined : repeatedKey(before) };
}

type Body = readonly [JsonObject, Parameters<CheckBodies>[0][number][1]];

/** @param line that has it too */
function repeatedKey(line: number): PushError {
  const errors = [problem('key', TEXTS.keyRepeated(line))];
  return new PushError('VALIDATION_FAILED', { errors });
}
