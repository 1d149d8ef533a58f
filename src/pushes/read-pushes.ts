/** Creates the pushes of a request: parses and validates the bodies, and creates the log entries. */
import { Types } from 'mongoose';
import { TimeSlice } from '../concurrency/turns';
import type { RawLine } from '../protocol/batch-lines';
import { PushError } from '../protocol/errors';
import { BATCH, RESEND } from '../protocol/paths';
import { newPush, type Push } from './apply';
import { databaseCall } from './availability';
import { assignId, type Idempotency } from './idempotency';
import type { PushRequest } from './push';
import { type BatchReader, type CheckedLine, checkLines } from './read-batch';
import {
  type CheckBody,
  externalIdOf,
  readExternalId,
  type ValidPush,
  validatePush,
} from './validate';

export interface ReadDependencies extends BatchReader {
  readonly checkBody: CheckBody;
  readonly idempotency: Idempotency;
  /** Creates ascending request ids for the lines of a batch. */
  readonly newLineIds: (batchId: string, count: number) => readonly string[];
}

export interface ReadTimes {
  /** Milliseconds from the receipt of the request to the deadline. */
  readonly timeout: number;
  /** Milliseconds that are left until the deadline. */
  readonly left: number;
}

/** Stores the error of an invalid push in `Push.answer`. @throws PushError DATABASE_UNAVAILABLE */
export async function readPushes(
  deps: ReadDependencies,
  request: PushRequest,
  lines: readonly RawLine[] | PushError | undefined,
  times: ReadTimes,
): Promise<Push[]> {
  if (!lines) return [await readSingle(deps, request, times)];
  if (lines instanceof PushError) return [unreadableBatch(request, lines, times.timeout)];
  return readLines(deps, request, lines, times);
}

async function readSingle(
  { checkBody, idempotency }: ReadDependencies,
  request: PushRequest,
  { timeout, left }: ReadTimes,
): Promise<Push> {
  const { caller, rawBody, signature, idempotencyKey, headerErrors, strictFields } = request;
  const { operation } = request;
  if (operation === BATCH || operation === RESEND)
    throw new TypeError('the lines of a batch or resend are missing');
  const source = { clientId: caller.clientId, idempotencyKey, signature };
  const context = { ...source, operation, headerErrors, strictFields };
  const { fingerprintOf } = idempotency;
  try {
    const checked = await databaseCall(validatePush(checkBody, rawBody, context), left);
    return newPush(request, { checked, operation, fingerprintOf }, timeout);
  } catch (error) {
    if (!(error instanceof PushError) || error.code >= 500) throw error;
    const externalId = readExternalId(rawBody);
    return newPush(request, { checked: error, operation, externalId, fingerprintOf }, timeout);
  }
}

const NO_FINGERPRINT = () => undefined;

/** Maximum bytes of a stored body of an unreadable batch. */
const MAX_UNREADABLE_BODY = 16 * 1024;

function unreadableBatch(request: PushRequest, checked: PushError, timeout: number): Push {
  const validated = { checked, operation: undefined, fingerprintOf: NO_FINGERPRINT };
  const push = newPush(request, validated, timeout);
  return request.rawBody.length > MAX_UNREADABLE_BODY ? { ...push, body: undefined } : push;
}

/** Does not store the parsed JSON in the pushes, to save memory. */
async function readLines(
  deps: ReadDependencies,
  request: PushRequest,
  lines: readonly RawLine[],
  { timeout, left }: ReadTimes,
): Promise<Push[]> {
  const found = await databaseCall(checkLines(deps, lines, request), left);
  const batchId = new Types.ObjectId(request.requestId);
  const ids = deps.newLineIds(request.requestId, found.length);
  const pushes: Push[] = [];
  const slice = new TimeSlice();
  for (const [index, checkedLine] of found.entries()) {
    if (slice.isOver()) await slice.next();
    const { line, read, key, isRepeated } = checkedLine;
    const source = {
      requestId: ids[index] ?? '',
      caller: request.caller,
      line: line.number,
      operation: read?.op ?? BATCH,
      idempotencyKey: key,
      rawBody: read?.rawBody ?? line.bytes,
      receivedAt: request.receivedAt,
      logged: { ...request.logged, batchId, batchLine: line.number },
    };
    const checked = withId(checkedLine, request, source.rawBody);
    const fingerprintOf = isRepeated ? NO_FINGERPRINT : deps.idempotency.fingerprintOf;
    const externalId = checked instanceof PushError ? readableIdOf(checkedLine) : undefined;
    const validated = { checked, operation: read?.op, externalId, fingerprintOf };
    pushes.push(newPush(source, validated, timeout));
  }
  return pushes;
}

function withId(
  { line, key: idempotencyKey, checked }: CheckedLine,
  { caller, signature }: PushRequest,
  rawBody: Uint8Array,
): ValidPush | PushError {
  if (checked instanceof PushError) return checked;
  const { clientId } = caller;
  const source = { clientId, idempotencyKey, signature: `${signature}/${line.number}` };
  const { operation, warnings, externalId = assignId(source, rawBody) } = checked;
  return { operation, warnings, externalId };
}

const readableIdOf = ({ line, read }: CheckedLine) =>
  read ? externalIdOf(read.body) : readExternalId(line.bytes);
