/** From a caller's bytes to an operation that may be queued, or to every problem they have. */
import { createHash } from 'node:crypto';
import type { Clock } from '../concurrency/clock';
import { ASSIGNED_ID_PREFIX, type Operation, type OperationName } from '../domain/operation';
import { type Problem, PushError, problem } from '../protocol/errors';
import { externalId } from '../protocol/fields';
import { fieldErrors, type JsonObject, parseJsonBody } from '../protocol/json-body';
import type { BodyParser, ParsedBody } from '../protocol/requests';
import { TEXTS } from '../protocol/texts';
import { unusedFields } from '../protocol/unused-fields';
import type { WarningInBoth } from '../protocol/warnings';
import { pushWarnings } from './push-warnings';

export interface ValidPush extends ParsedBody {
  readonly externalId: string;
  readonly warnings: readonly WarningInBoth[];
}

/** A body that passes. Where it names no matter, the push is given one. */
export type CheckedBody = Omit<ValidPush, 'externalId'> & Pick<ParsedBody, 'externalId'>;

export interface ValidatorDependencies {
  readonly parsers: Record<OperationName, BodyParser>;
  readonly concluded: ReadonlySet<string>;
  readonly clock: Clock;
  /** Returns the usernames that no enabled portal user has. */
  readonly unknownUsers: (usernames: readonly string[]) => Promise<string[]>;
  /** Of such names, by name: the known one that was probably meant. */
  readonly similarUsers?: (usernames: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

/** What validation needs to know of the request besides its body. */
export interface RequestContext {
  readonly clientId: string;
  readonly operation: OperationName;
  readonly signature: string;
  /** As sent; undefined where it was not sent or is itself a problem. */
  readonly idempotencyKey: string | undefined;
  /** Problems of the headers, to be named together with those of the body. */
  readonly headerErrors: readonly Problem[];
  /** X-Strict-Fields: fields that are not read are rejected. */
  readonly strictFields?: boolean;
  /** Of a line of a batch: unknown fields beside its body. */
  readonly unknown?: readonly string[];
}

export type ValidatePush = (
  rawBody: Uint8Array,
  requestContext: RequestContext,
) => Promise<ValidPush>;
export type CheckBody = (
  body: JsonObject,
  requestContext: Pick<RequestContext, 'operation' | 'headerErrors' | 'strictFields' | 'unknown'>,
) => Promise<CheckedBody>;

/** @throws (the built function) PushError INVALID_*, VALIDATION_FAILED or UNKNOWN_USER */
export function createValidatePush(checkBody: CheckBody): ValidatePush {
  return async (rawBody, requestContext) => {
    const checked = await checkBody(parsePush(rawBody, requestContext), requestContext);
    const { operation, warnings } = checked;
    const externalId = checked.externalId ?? assignId(requestContext, rawBody);
    return { operation, externalId, warnings };
  };
}

/** Names the problems of the headers too if the structure of the body is out of bounds. */
function parsePush(
  rawBody: Uint8Array,
  { headerErrors }: Pick<RequestContext, 'headerErrors'>,
): JsonObject {
  try {
    return parseJsonBody(rawBody);
  } catch (error) {
    if (!(error instanceof PushError) || error.reason !== 'VALIDATION_FAILED') throw error;
    const errors = [...headerErrors, ...(error.errors ?? [])];
    throw new PushError('VALIDATION_FAILED', { errors });
  }
}

/** @throws (the built function) PushError VALIDATION_FAILED or UNKNOWN_USER */
export function createCheckBody(deps: ValidatorDependencies): CheckBody {
  return async (body, requestContext) => {
    const parsed = parseBody(deps, body, requestContext);
    const { usernames } = parsed;
    return checkUsers(parsed, await findUnknown(deps, usernames));
  };
}

/** By name: the known one that was probably meant; undefined: there is none like it. */
export type UnknownUsers = ReadonlyMap<string, string | undefined>;

/** Finds the names that no enabled user has. */
export async function findUnknown(
  { unknownUsers, similarUsers }: Pick<ValidatorDependencies, 'unknownUsers' | 'similarUsers'>,
  usernames: readonly string[],
): Promise<UnknownUsers> {
  const unknown = usernames.length > 0 ? await unknownUsers(usernames) : [];
  const similar = unknown.length > 0 ? await similarUsers?.(unknown) : undefined;
  return new Map(unknown.map((name) => [name, similar?.get(name)]));
}

/** @returns what `check` does, or the PushError that it throws */
export function orRejection<T>(check: () => T): T | PushError {
  try {
    return check();
  } catch (error) {
    if (error instanceof PushError) return error;
    throw error;
  }
}

/** A body that passes, if its users do. */
export interface ParsedPush extends CheckedBody {
  readonly usernames: readonly string[];
}

/** @throws PushError VALIDATION_FAILED, with the first `mostErrors` */
export function parseBody(
  deps: Omit<ValidatorDependencies, 'unknownUsers'>,
  body: JsonObject,
  { operation: name, headerErrors, strictFields = false, unknown }: Parameters<CheckBody>[1],
  mostErrors?: number,
): ParsedPush {
  const parsed = deps.parsers[name](body);
  const bodyErrors = parsed.error ? fieldErrors(parsed.error, mostErrors) : [];
  const unused = unusedFields(body, name, strictFields, unknown);
  const rejected = strictFields ? unused.map(({ kind: _, suggestion: __, ...it }) => it) : [];
  const ignored = strictFields ? [] : unused;
  const errors = [...headerErrors, ...bodyErrors, ...rejected].slice(0, mostErrors);
  if (!parsed.success || errors.length > 0) {
    throw new PushError('VALIDATION_FAILED', { errors, warnings: ignored });
  }
  const { operation, externalId } = parsed.data;
  const warnings = [...ignored, ...pushWarnings({ operation, externalId }, deps)];
  return { operation, externalId, warnings, usernames: usernamesOf(operation) };
}

/** The matter that a body is about, where it says so: also of a body that does not pass. */
export const externalIdOf = (body: JsonObject): string | undefined =>
  externalId.safeParse(body.externalId).data;

/** The same of a body that was not read. */
export function externalIdIn(rawBody: Uint8Array): string | undefined {
  try {
    return externalIdOf(parseJsonBody(rawBody));
  } catch (error) {
    if (error instanceof PushError) return undefined;
    throw error;
  }
}

/**
 * A notice without an id gets one that its retry gets again (decisions, "No externalId"). The body
 * counts too: another notice under a reused key is a new push and must not overwrite the first.
 */
export function assignId(
  requestContext: Pick<RequestContext, 'clientId' | 'idempotencyKey' | 'signature'>,
  rawBody: Uint8Array,
): string {
  const { clientId, idempotencyKey, signature } = requestContext;
  const digest = createHash('sha256');
  if (idempotencyKey === undefined) digest.update(`signature\n${clientId}\n${signature}`);
  else digest.update(`key\n${clientId}\n${idempotencyKey}\n`).update(rawBody);
  return ASSIGNED_ID_PREFIX + digest.digest('hex').slice(0, 32);
}

function usernamesOf(operation: Operation): string[] {
  if (operation.op !== 'upsert') return [];
  const names = (operation.parties ?? []).map(({ username }) => username);
  const { initiatorUsername } = operation.content;
  if (initiatorUsername) names.push(initiatorUsername);
  return names;
}

/** @throws PushError UNKNOWN_USER naming every unknown party at once, or the first `mostErrors` */
export function checkUsers(
  { operation, externalId, warnings, usernames }: ParsedPush,
  unknown: UnknownUsers,
  mostErrors?: number,
): CheckedBody {
  const checked = { operation, externalId, warnings };
  if (operation.op !== 'upsert' || !usernames.some((name) => unknown.has(name))) return checked;
  const initiator = operation.content.initiatorUsername ?? undefined;
  const errors = (operation.parties ?? []).flatMap(({ username }, index) =>
    unknown.has(username)
      ? [problem(`parties[${index}].username`, TEXTS.unknownUser(username, unknown.get(username)))]
      : [],
  );
  const atInitiator =
    initiator && unknown.has(initiator)
      ? [problem('initiatorUsername', TEXTS.unknownUser(initiator, unknown.get(initiator)))]
      : [];
  if (operation.bizStatus === 'DRAFT') errors.push(...atInitiator);
  if (errors.length > 0) {
    throw new PushError('UNKNOWN_USER', { errors: errors.slice(0, mostErrors) });
  }
  const unknownInitiator = atInitiator.map(
    (problem): WarningInBoth => ({ ...problem, kind: 'UNKNOWN_INITIATOR' }),
  );
  return { ...checked, warnings: [...warnings, ...unknownInitiator] };
}
