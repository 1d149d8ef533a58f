/** Validates the lines of a batch, or of a dry run of a batch (contract 7). */
import type { PushHeaders } from '../auth/auth-headers';
import { TimeSlice } from '../concurrency/turns';
import { derivedKey, MAX_KEY_LENGTH } from '../protocol/batch';
import {
  type BatchLimits,
  LINE_DIGITS,
  type RawLine,
  type ReadLine,
  readLine,
} from '../protocol/batch-lines';
import { MAX_PROBLEMS, PushError, problem } from '../protocol/errors';
import type { JsonObject } from '../protocol/json-body';
import { TEXTS } from '../protocol/texts';
import {
  type BodyContext,
  type BodyWithUsers,
  type CheckedBody,
  checkUsers,
  findUnknownUsers,
  parseBody,
  resultOrPushError,
  type UnknownUsers,
  type ValidatorDependencies,
} from './validate';

export interface BatchReader {
  readonly checkBodies: CheckBodies;
  readonly limits: BatchLimits;
}

export interface CheckedLine {
  readonly line: RawLine;
  /** Undefined if the line is unreadable. */
  readonly read: ReadLine | undefined;
  /** The sent or derived idempotency key. */
  readonly key: string | undefined;
  readonly checked: CheckedBody | PushError;
  /** Whether an earlier line of the batch has the same operation and key. */
  readonly isRepeated: boolean;
}

/** Maximum length of X-Idempotency-Key for a batch. `derivedKey` appends a slash and the line number. */
const MAX_BATCH_KEY = MAX_KEY_LENGTH - 1 - LINE_DIGITS;

/** @throws PushError VALIDATION_FAILED if a header is invalid */
export function checkBatchHeaders({ headerErrors, idempotencyKey = '' }: PushHeaders): void {
  const tooLong = problem('X-Idempotency-Key', TEXTS.batchKey(MAX_BATCH_KEY));
  const errors =
    idempotencyKey.length > MAX_BATCH_KEY ? [...headerErrors, tooLong] : [...headerErrors];
  if (errors.length > 0) throw new PushError('VALIDATION_FAILED', { errors });
}

export async function checkLines(
  { checkBodies, limits }: BatchReader,
  lines: readonly RawLine[],
  { idempotencyKey: batchKey, strictFields }: PushHeaders,
): Promise<CheckedLine[]> {
  const lineByKey = new Map<string, number>();
  const found: LineWithKey[] = [];
  const slice = new TimeSlice();
  // Lets other requests run, because reading the lines may have taken long.
  await slice.next();
  for (const line of lines) {
    if (slice.isOver()) await slice.next();
    found.push(readWithKey(line, limits, batchKey, lineByKey));
  }
  const bodies = found.flatMap(({ read, error }): [JsonObject, BodyContext][] => {
    if (!read || error) return [];
    const { body, op: operation, unknownLineFields } = read;
    return [[body, { operation, headerErrors: [], strictFields, unknownLineFields }]];
  });
  const checked = (await checkBodies(bodies)).values();
  return found.map(({ line, read, key, error }) => ({
    line,
    read,
    key,
    checked: error ?? (checked.next().value as CheckedBody | PushError),
    isRepeated: read !== undefined && error !== undefined,
  }));
}

interface LineWithKey {
  readonly line: RawLine;
  readonly read: ReadLine | undefined;
  readonly key: string | undefined;
  readonly error: PushError | undefined;
}

function readWithKey(
  line: RawLine,
  limits: BatchLimits,
  batchKey: string | undefined,
  lineByKey: Map<string, number>,
): LineWithKey {
  const read = readLine(line, limits);
  if (read instanceof PushError) return { line, read: undefined, key: undefined, error: read };
  const key = read.key ?? (batchKey === undefined ? undefined : derivedKey(batchKey, line.number));
  if (key === undefined) return { line, read, key, error: undefined };
  const operationAndKey = `${read.op} ${key}`;
  const earlier = lineByKey.get(operationAndKey);
  if (earlier === undefined) lineByKey.set(operationAndKey, line.number);
  return { line, read, key, error: earlier === undefined ? undefined : repeatedKey(earlier) };
}

function repeatedKey(earlierLine: number): PushError {
  const errors = [problem('key', TEXTS.keyRepeated(earlierLine))];
  return new PushError('VALIDATION_FAILED', { errors });
}

/** @param maxProblems maximum problems of one body, not counting unknown users */
export type CheckBodies = (
  bodies: readonly (readonly [JsonObject, BodyContext])[],
  maxProblems?: number,
) => Promise<(CheckedBody | PushError)[]>;

/**
 * Maximum unknown users in the errors of all bodies together. After this number, each further body lists at most
 * MAX_PROBLEMS unknown users.
 */
const MAX_USER_PROBLEMS = 10_000;

export function createCheckBodies(deps: ValidatorDependencies): CheckBodies {
  return async (bodies, maxProblems = MAX_PROBLEMS) => {
    const parsed: (BodyWithUsers | PushError)[] = [];
    const slice = new TimeSlice();
    for (const [body, context] of bodies) {
      if (slice.isOver()) await slice.next();
      parsed.push(resultOrPushError(() => parseBody(deps, body, context, maxProblems)));
    }
    const unknown = await findAllUnknownUsers(deps, parsed, slice);
    let userProblemsLeft = MAX_USER_PROBLEMS;
    const results: (CheckedBody | PushError)[] = [];
    for (const body of parsed) {
      if (slice.isOver()) await slice.next();
      const maxErrors = Math.max(MAX_PROBLEMS, userProblemsLeft);
      const checked =
        body instanceof PushError
          ? body
          : resultOrPushError(() => checkUsers(body, unknown, maxErrors));
      if (checked !== body && checked instanceof PushError) {
        userProblemsLeft -= checked.errors?.length ?? 0;
      }
      results.push(checked);
    }
    return results;
  };
}

/** Maximum usernames in one MongoDB query. */
const MAX_NAMES = 2_000;

async function findAllUnknownUsers(
  deps: ValidatorDependencies,
  bodies: readonly (BodyWithUsers | PushError)[],
  slice: TimeSlice,
): Promise<UnknownUsers> {
  const usernames = new Set<string>();
  for (const body of bodies) {
    if (slice.isOver()) await slice.next();
    if (!(body instanceof PushError)) for (const name of body.usernames) usernames.add(name);
  }
  const all = [...usernames];
  const unknown = new Map<string, string | undefined>();
  for (let at = 0; at < all.length; at += MAX_NAMES) {
    if (slice.isOver()) await slice.next();
    const found = await findUnknownUsers(deps, all.slice(at, at + MAX_NAMES));
    for (const [name, similar] of found) unknown.set(name, similar);
  }
  return unknown;
}
