/** Validation of pushes (contract 4). */
import type { Clock } from '../concurrency/timing';
import type { Operation, OperationName } from '../domain/operation';
import { type Problem, PushError, problem } from '../protocol/errors';
import { externalId as externalIdSchema, looksLikeHost } from '../protocol/fields';
import { fieldErrors, type JsonObject, parseJsonBody } from '../protocol/json-body';
import { localized } from '../protocol/language';
import { findInvisibleCharacter } from '../protocol/look-alike';
import type { BodyParser } from '../protocol/requests';
import { TEXTS } from '../protocol/texts';
import { EARLIEST_LIKELY } from '../protocol/time';
import { unusedFields } from '../protocol/unused-fields';
import type { LocalizedWarning } from '../protocol/warnings';
import { type AssignedIdSource, assignId } from './idempotency';

export interface ValidPush {
  readonly operation: Operation;
  readonly externalId: string;
  readonly warnings: readonly LocalizedWarning[];
}

/** A valid body; `assignId` later assigns a missing externalId. */
export interface CheckedBody {
  readonly operation: Operation;
  readonly externalId?: string | undefined;
  readonly warnings: readonly LocalizedWarning[];
}

export interface ValidatorDependencies {
  readonly parsers: Record<OperationName, BodyParser>;
  /** The statuses that conclude a matter (setting CONCLUDED_STATUSES). */
  readonly concluded: ReadonlySet<string>;
  readonly clock: Clock;
  /** @returns the usernames of missing and disabled portal users */
  readonly unknownUsers: (usernames: readonly string[]) => Promise<string[]>;
  /** Maps unknown usernames to similar known usernames. */
  readonly similarUsers?: (usernames: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

export interface BodyContext {
  readonly operation: OperationName;
  readonly headerErrors: readonly Problem[];
  /** True: fields that the operation does not use are errors (header X-Strict-Fields). */
  readonly strictFields?: boolean;
  /** Names of unknown fields at the top level of a batch line. */
  readonly unknownLineFields?: readonly string[];
}

/** @throws PushError VALIDATION_FAILED or UNKNOWN_USER */
export type CheckBody = (body: JsonObject, context: BodyContext) => Promise<CheckedBody>;

export function createCheckBody(deps: ValidatorDependencies): CheckBody {
  return async (body, context) => {
    const parsed = parseBody(deps, body, context);
    return checkUsers(parsed, await findUnknownUsers(deps, parsed.usernames));
  };
}

export interface PushContext extends BodyContext, AssignedIdSource {}

/** @throws PushError INVALID_ENCODING or INVALID_JSON, or an error of CheckBody */
export async function validatePush(
  checkBody: CheckBody,
  rawBody: Uint8Array,
  context: PushContext,
): Promise<ValidPush> {
  const checked = await checkBody(parsePush(rawBody, context.headerErrors), context);
  const externalId = checked.externalId ?? assignId(context, rawBody);
  return { operation: checked.operation, externalId, warnings: checked.warnings };
}

function parsePush(rawBody: Uint8Array, headerErrors: readonly Problem[]): JsonObject {
  try {
    return parseJsonBody(rawBody);
  } catch (error) {
    if (!(error instanceof PushError) || error.reason !== 'VALIDATION_FAILED') throw error;
    const errors = [...headerErrors, ...(error.errors ?? [])];
    throw new PushError('VALIDATION_FAILED', { errors });
  }
}

/** Maps each unknown username to a similar known username, or to undefined. */
export type UnknownUsers = ReadonlyMap<string, string | undefined>;

const NONE: UnknownUsers = new Map();

export async function findUnknownUsers(
  { unknownUsers, similarUsers }: ValidatorDependencies,
  usernames: readonly string[],
): Promise<UnknownUsers> {
  if (usernames.length === 0) return NONE;
  const unknown = await unknownUsers(usernames);
  if (unknown.length === 0) return NONE;
  const similar = await similarUsers?.(unknown);
  return new Map(unknown.map((name) => [name, similar?.get(name)]));
}

export function resultOrPushError<T>(check: () => T): T | PushError {
  try {
    return check();
  } catch (error) {
    if (error instanceof PushError) return error;
    throw error;
  }
}

/** A body with valid fields. The usernames have not been looked up yet. */
export interface BodyWithUsers extends CheckedBody {
  readonly usernames: readonly string[];
}

/** @throws PushError VALIDATION_FAILED, with the first `maxErrors` problems */
export function parseBody(
  deps: ValidatorDependencies,
  body: JsonObject,
  { operation: name, headerErrors, strictFields = false, unknownLineFields }: BodyContext,
  maxErrors?: number,
): BodyWithUsers {
  const parsed = deps.parsers[name](body);
  const bodyErrors = parsed.error ? fieldErrors(parsed.error, maxErrors) : [];
  const unused = unusedFields(body, name, strictFields, unknownLineFields);
  const rejected = strictFields ? unused.map(({ kind: _, suggestion: __, ...it }) => it) : [];
  const ignored = strictFields ? [] : unused;
  const errors = [...headerErrors, ...bodyErrors, ...rejected].slice(0, maxErrors);
  if (!parsed.success || errors.length > 0) {
    throw new PushError('VALIDATION_FAILED', { errors, warnings: ignored });
  }
  const { operation, externalId } = parsed.data;
  const warnings = [...ignored, ...pushWarnings(operation, externalId, deps)];
  return { operation, externalId, warnings, usernames: usernamesOf(operation) };
}

const MINUTE = 60_000;
/** The known statuses that do not conclude a matter: DRAFT and three open statuses (contract 1.4). */
const UNCONCLUDED_STATUSES = ['DRAFT', 'PENDING', 'PROCESSING', 'REOPENED'];

const pushWarnings = (
  operation: Operation,
  externalId: string | undefined,
  { concluded, clock }: ValidatorDependencies,
): LocalizedWarning[] => [
  ...idWarning(externalId),
  ...statusWarning(operation, concluded),
  ...timeWarnings(operation, clock()),
  ...urlWarnings(operation),
];

function idWarning(externalId: string | undefined): LocalizedWarning[] {
  const found = externalId === undefined ? undefined : findInvisibleCharacter(externalId);
  if (!found) return [];
  const text = TEXTS.overlooked(found.position, found.codePoint);
  return [{ field: 'externalId', ...localized(text), kind: 'LOOK_ALIKE_ID' }];
}

function timeWarnings(operation: Operation, now: number): LocalizedWarning[] {
  const { sourceUpdatedAt } = operation;
  const deadlineAt = operation.op === 'upsert' ? operation.content.deadlineAt : undefined;
  const times = { sourceUpdatedAt, deadlineAt };
  const past = Object.entries(times).flatMap(([field, at]): LocalizedWarning[] =>
    typeof at === 'number' && at < EARLIEST_LIKELY
      ? [{ field, ...localized(TEXTS.longPast), kind: 'LONG_PAST_TIME' }]
      : [],
  );
  if (sourceUpdatedAt === undefined || sourceUpdatedAt <= now + 5 * MINUTE) return past;
  return [...past, { field: 'sourceUpdatedAt', ...localized(TEXTS.ahead), kind: 'FUTURE_TIME' }];
}

function urlWarnings(operation: Operation): LocalizedWarning[] {
  if (operation.op !== 'upsert') return [];
  const { pcUrl, mobileUrl } = operation.content;
  return Object.entries({ pcUrl, mobileUrl }).flatMap(([field, url]): LocalizedWarning[] =>
    url && looksLikeHost(url)
      ? [{ field, ...localized(TEXTS.hostAsScheme), kind: 'URL_WITHOUT_SCHEME' }]
      : [],
  );
}

function statusWarning(operation: Operation, concluded: ReadonlySet<string>): LocalizedWarning[] {
  const status = operation.op === 'delete' ? undefined : operation.bizStatus;
  if (status === undefined || UNCONCLUDED_STATUSES.includes(status) || concluded.has(status))
    return [];
  return [
    { field: 'bizStatus', ...localized(TEXTS.unknownStatus(status)), kind: 'UNKNOWN_STATUS' },
  ];
}

function usernamesOf(operation: Operation): string[] {
  if (operation.op !== 'upsert') return [];
  const names = (operation.parties ?? []).map(({ username }) => username);
  const { initiatorUsername } = operation.content;
  if (initiatorUsername) names.push(initiatorUsername);
  return names;
}

/**
 * An unknown initiator is an error in a push with the status DRAFT, otherwise a warning.
 *
 * @throws PushError UNKNOWN_USER with at most `maxErrors` unknown users
 */
export function checkUsers(
  { operation, externalId, warnings, usernames }: BodyWithUsers,
  unknown: UnknownUsers,
  maxErrors?: number,
): CheckedBody {
  const checked = { operation, externalId, warnings };
  if (operation.op !== 'upsert' || !usernames.some((name) => unknown.has(name))) return checked;
  const initiator = operation.content.initiatorUsername ?? undefined;
  const errors = (operation.parties ?? []).flatMap(({ username }, index) =>
    unknown.has(username)
      ? [problem(`parties[${index}].username`, TEXTS.unknownUser(username, unknown.get(username)))]
      : [],
  );
  const initiatorErrors =
    initiator && unknown.has(initiator)
      ? [problem('initiatorUsername', TEXTS.unknownUser(initiator, unknown.get(initiator)))]
      : [];
  if (operation.bizStatus === 'DRAFT') errors.push(...initiatorErrors);
  if (errors.length > 0) {
    throw new PushError('UNKNOWN_USER', { errors: errors.slice(0, maxErrors) });
  }
  const unknownInitiator = initiatorErrors.map(
    (error): LocalizedWarning => ({ ...error, kind: 'UNKNOWN_INITIATOR' }),
  );
  return { ...checked, warnings: [...warnings, ...unknownInitiator] };
}

/** @returns the externalId of a parsed body; undefined if it is missing or invalid */
export const externalIdOf = (body: JsonObject): string | undefined =>
  externalIdSchema.safeParse(body.externalId).data;

/** Parses the raw body. @returns the externalId; undefined if the body has no valid externalId */
export function readExternalId(rawBody: Uint8Array): string | undefined {
  const body = resultOrPushError(() => parseJsonBody(rawBody));
  return body instanceof PushError ? undefined : externalIdOf(body);
}
