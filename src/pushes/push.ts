/**
 * A push passes through these types:
 *
 * - `PushRequest`: a signed HTTP request with one push, a batch of pushes, or a resend.
 * - `LogEntry` (storage/push-log/entry.ts): the push-log entry of one push.
 * - `Push` (apply.ts): a push that `web` processes, with its log entry.
 * - `PushMessage` (queue/records.ts): a valid push in its partition.
 * - `PushResult`: the answer to one push.
 */
import { hash } from 'node:crypto';
import { Types } from 'mongoose';
import type { AuthHeaders, PushHeaders } from '../auth/auth-headers';
import type { SignedRequest } from '../auth/authenticate';
import type { OperationName } from '../domain/operation';
import type { StageTimes } from '../observability/metrics';
import type { RawLine } from '../protocol/batch-lines';
import {
  MAX_PROBLEMS,
  matterNotFound,
  PushError,
  problem,
  type RateState,
  type Reason,
  UNAUTHENTICATED_REASONS,
  WRONG_SIGNATURE,
} from '../protocol/errors';
import type { BATCH, RESEND } from '../protocol/paths';
import type { PushData } from '../protocol/push-data';
import { type LocalizedWarning, NO_ASSIGNEE } from '../protocol/warnings';
import type { PushMessage } from '../queue/producer';
import {
  type BodyDigest,
  type LogEntry,
  type RequestFields,
  resultOf,
  type Settlement,
  sentSignature,
} from '../storage/push-log';
import type { ValidPush } from './validate';

export interface PushRequest extends SignedRequest, PushHeaders {
  readonly operation: OperationName | typeof BATCH | typeof RESEND;
  readonly path: string;
  readonly rawBody: Uint8Array;
  /** The authentication sets this field for a large body. */
  readonly digest?: BodyDigest | undefined;
  /** Reads the lines of a batch; undefined for a single push. @throws PushError if the batch is unreadable */
  readonly readLines?: () => readonly RawLine[] | Promise<readonly RawLine[]>;
  /** Called after admission, with the result of `Admit` (admission.ts). */
  readonly onAdmitted: (rate: RateState | undefined) => void;
  /** For the access log; set if LOG_REQUESTS is on. */
  readonly stages?: StageTimes | undefined;
}

export interface EntrySource {
  readonly requestId: string;
  readonly caller: {
    readonly clientId: string;
    readonly systemCode: string | null;
    readonly secretId?: string;
  };
  readonly operation: string;
  readonly idempotencyKey?: string | undefined;
  readonly rawBody: Uint8Array;
  readonly digest?: BodyDigest | undefined;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** Further fields of the entry, such as the trace id. */
  readonly logged?: RequestFields | undefined;
}

export interface PushResult {
  /** Also the id of the log entry. */
  readonly requestId: string;
  /** Set only for lines of a batch or resend. */
  readonly line: number | undefined;
  /** Undefined for an unreadable line, a rejected batch, or a rejected resend. */
  readonly operation: OperationName | undefined;
  readonly externalId: string | undefined;
  readonly answer: PushAnswer;
  /** True if the push has a log entry, or was passed to `logRejection`. */
  readonly isRecorded: boolean;
}

export type PushAnswer = AcceptedPush | PushError;

export interface AcceptedPush {
  readonly data: PushData;
  /** True if the answer repeats the outcome of an earlier attempt. */
  readonly replayed: boolean;
}

export const outcomeOf = ({ data, replayed }: AcceptedPush) =>
  replayed ? 'REPLAYED' : data.outcome;

/** @param timeout milliseconds from the receipt of the request to the deadline */
export function newEntry(source: EntrySource, timeout: number): LogEntry {
  const { caller, operation, idempotencyKey, receivedAt, rawBody, digest, logged } = source;
  const { clientId, systemCode, secretId } = caller;
  const entry: LogEntry = {
    _id: new Types.ObjectId(source.requestId),
    clientId,
    operation,
    bodyHash: digest?.bodyHash ?? hash('sha256', rawBody),
    bodySize: digest?.bodySize ?? rawBody.length,
    receivedAt: new Date(receivedAt),
    deadlineAt: new Date(receivedAt + timeout),
    state: 'QUEUED',
    ...logged,
  };
  if (systemCode !== null) entry.systemCode = systemCode;
  if (idempotencyKey !== undefined) entry.idempotencyKey = idempotencyKey;
  if (secretId !== undefined) entry.secretId = secretId;
  return entry;
}

/** The first write of the entry includes the fingerprint, because a later update of an indexed field is expensive. */
export function queuedEntry(
  entry: LogEntry,
  { externalId, warnings }: ValidPush,
  idempotencyFingerprint: string | undefined,
): LogEntry {
  // The spread comes last, because fields after a spread are several times slower in V8.
  const queued =
    warnings.length > 0 ? { externalId, warnings, ...entry } : { externalId, ...entry };
  return idempotencyFingerprint === undefined ? queued : { idempotencyFingerprint, ...queued };
}

export const withExternalId = (entry: LogEntry, externalId: string | undefined): LogEntry =>
  externalId === undefined ? entry : { externalId, ...entry };

/** The entry of a retry, with the result of the first attempt. */
export function replayedEntry(entry: LogEntry, first: LogEntry, now: number): LogEntry {
  const { externalId, result, matterId, warnings } = first;
  return {
    ...entry,
    ...(externalId !== undefined && { externalId }),
    ...(result !== undefined && { result }),
    ...(matterId !== undefined && { matterId }),
    ...(warnings && { warnings }),
    state: 'REPLAYED',
    duplicateOf: first._id,
    settledAt: new Date(now),
  };
}

export function rejectedEntry(entry: LogEntry, error: PushError, now: number): LogEntry {
  const { reason, errors, warnings } = error;
  return {
    ...entry,
    ...resultOf({ state: 'REFUSED', reason }),
    ...(errors && { problems: errors.slice(0, MAX_PROBLEMS) }),
    ...(warnings.length > 0 && { warnings }),
    settledAt: new Date(now),
  };
}

/** Milliseconds for which the entry of an unauthenticated request is kept. */
const UNAUTHENTICATED_RETENTION = 86_400_000;

/**
 * If the signature or the timestamp is wrong, the entry contains a hash of the sent signature, for the signature
 * diagnosis.
 */
export function unauthenticatedEntry(
  entry: LogEntry,
  error: PushError,
  { timestamp, signature }: AuthHeaders,
  now: number,
): LogEntry {
  const rejected = rejectedEntry(entry, error, now);
  if (!UNAUTHENTICATED_REASONS.includes(error.reason)) return rejected;
  const isWrong = WRONG_SIGNATURE.includes(error.reason);
  return {
    ...rejected,
    ...(isWrong && { signature: sentSignature(timestamp, signature) }),
    expireAt: new Date(entry.receivedAt.getTime() + UNAUTHENTICATED_RETENTION),
  };
}

export function messageOf(
  { requestId, systemCode }: { readonly requestId: string; readonly systemCode: string },
  { clientId, bodyHash, idempotencyKey, idempotencyFingerprint }: LogEntry,
  { operation, externalId }: ValidPush,
  replyTo: string,
): PushMessage {
  const message = { replyTo, id: requestId, clientId, systemCode, externalId, operation, bodyHash };
  if (idempotencyKey === undefined && idempotencyFingerprint === undefined) return message;
  return {
    ...message,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(idempotencyFingerprint !== undefined && { idempotencyFingerprint }),
  };
}

/** @param settlement undefined if the final state is unknown */
export function answerOf(
  settlement: Settlement | undefined,
  systemCode: string,
  { externalId, warnings: earlier }: Omit<ValidPush, 'operation'>,
): PushAnswer {
  if (!settlement || settlement.state === 'EXPIRED') return new PushError('CONFIRMATION_TIMEOUT');
  if (settlement.state === 'REFUSED') return errorOf(settlement.reason, systemCode, externalId);
  const { matterId, outcome, unseen = false } = settlement;
  const warnings = withUnseen(earlier, unseen);
  const data = { matterId, externalId, outcome, ...(warnings.length > 0 && { warnings }) };
  return { data, replayed: settlement.state === 'REPLAYED' };
}

function withUnseen(
  warnings: readonly LocalizedWarning[],
  unseen: boolean,
): readonly LocalizedWarning[] {
  const hasWarning = warnings.some(({ kind }) => kind === NO_ASSIGNEE.kind);
  return unseen && !hasWarning ? [...warnings, NO_ASSIGNEE] : warnings;
}

/** Field names in the `errors` of the answer, by reason. */
const FIELDS: Partial<Record<Reason, string>> = {
  EXTERNAL_ID_RESERVED: 'externalId',
  TOO_MANY_PARTIES: 'parties',
};

function errorOf(reason: Reason, systemCode: string, externalId: string): PushError {
  if (reason === 'MATTER_NOT_FOUND' || reason === 'MATTER_DELETED') {
    return matterNotFound(reason, systemCode, externalId);
  }
  const error = new PushError(reason);
  const field = FIELDS[reason];
  if (!field) return error;
  return new PushError(reason, { errors: [problem(field, error.text)] });
}

export function wasProcessed(settlement: Settlement | undefined): boolean {
  if (!settlement || settlement.state === 'EXPIRED') return false;
  return settlement.state !== 'REFUSED' || new PushError(settlement.reason).code < 500;
}
