/** From a caller's bytes to an operation that may be queued, or to every problem they have. */
import { createHash } from 'node:crypto';
import type { Clock } from '../concurrency/clock';
import { TimeSlice } from '../concurrency/time-slice';
import { ASSIGNED_ID_PREFIX, type Operation, type OperationName } from '../domain/operation';
import { MAX_PROBLEMS, type Problem, PushError, problem } from '../protocol/errors';
import { externalId } from '../protocol/fields';
import {
  depthErrors,
  fieldErrors,
  type JsonObject,
  parseJsonBody,
  parseJsonObject,
} from '../protocol/json-body';
import { told } from '../protocol/language';
import type { BodyParser, ParsedBody } from '../protocol/requests';
import { TEXTS } from '../protocol/texts';
import { unusedFields } from '../protocol/unused-fields';
import type { WarningInBoth } from '../protocol/warnings';

const MINUTE = 60_000;
/** Statuses that the portal knows besides the concluded ones (decisions, "bizStatus"). */
const OPEN_STATUSES = ['DRAFT', 'PENDING', 'PROCESSING', 'REOPENED'];

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
    const checked = await checkBody(parseJsonObject(rawBody), requestContext);
    const { operation, warnings } = checked;
    const externalId = checked.externalId ?? assignId(requestContext, rawBody);
    return { operation, externalId, warnings };
  };
}

/** @throws (the built function) PushError VALIDATION_FAILED or UNKNOWN_USER */
export function createCheckBody(deps: ValidatorDependencies): CheckBody {
  return async (body, requestContext) => {
    const parsed = parseBody(deps, body, requestContext);
    const { usernames } = parsed;
    const unknown = usernames.length > 0 ? await deps.unknownUsers(usernames) : [];
    return checkUsers(parsed, new Set(unknown));
  };
}

/** Bodies, each with what is known of its request; the users of all of them are looked up together. */
export type CheckBodies = (
  bodies: readonly (readonly [JsonObject, Parameters<CheckBody>[1]])[],
) => Promise<(CheckedBody | PushError)[]>;

/** Of all bodies that are checked together; beyond it each has MAX_PROBLEMS. */
const MAX_USER_PROBLEMS = 10_000;

/**
 * @returns (the built function) each body as `createCheckBody`, or the PushError that it is rejected with, of
 *   which it has MAX_PROBLEMS at most: a small batch may have a million. Unknown users are named all, up to
 *   MAX_USER_PROBLEMS in all bodies together
 */
export function createCheckBodies(deps: ValidatorDependencies): CheckBodies {
  return async (bodies) => {
    const parsed: (ParsedPush | PushError)[] = [];
    const slice = new TimeSlice();
    for (const [body, requestContext] of bodies) {
      if (slice.isOver()) await slice.next();
      parsed.push(orRejection(() => parseBody(deps, body, requestContext, MAX_PROBLEMS)));
    }
    const usernames = new Set<string>();
    for (const one of parsed) {
      if (!(one instanceof PushError)) for (const name of one.usernames) usernames.add(name);
    }
    const unknown = new Set(usernames.size > 0 ? await deps.unknownUsers([...usernames]) : []);
    let left = MAX_USER_PROBLEMS;
    return parsed.map((one) => {
      if (one instanceof PushError) return one;
      const most = Math.max(MAX_PROBLEMS, left);
      const checked = orRejection(() => checkUsers(one, unknown, most));
      if (checked instanceof PushError) left -= checked.errors?.length ?? 0;
      return checked;
    });
  };
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
interface ParsedPush extends CheckedBody {
  readonly usernames: readonly string[];
}

/** @throws PushError VALIDATION_FAILED, with the first `mostErrors` */
function parseBody(
  deps: Omit<ValidatorDependencies, 'unknownUsers'>,
  body: JsonObject,
  { operation: name, headerErrors, strictFields = false, unknown }: Parameters<CheckBody>[1],
  mostErrors?: number,
): ParsedPush {
  const tooDeep = depthErrors(body);
  const parsed = tooDeep.length > 0 ? undefined : deps.parsers[name](body);
  const bodyErrors = parsed?.error ? fieldErrors(parsed.error, mostErrors) : tooDeep;
  const unused = unusedFields(body, name, strictFields, unknown);
  const rejected = strictFields ? unused.map(({ kind: _, suggestion: __, ...it }) => it) : [];
  const ignored = strictFields ? [] : unused;
  const errors = [...headerErrors, ...bodyErrors, ...rejected].slice(0, mostErrors);
  if (!parsed?.success || errors.length > 0) {
    throw new PushError('VALIDATION_FAILED', { errors, warnings: ignored });
  }
  const { operation, externalId } = parsed.data;
  const warnings = [
    ...ignored,
    ...statusWarning(operation, deps.concluded),
    ...futureWarning(operation, deps.clock()),
  ];
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

function futureWarning({ sourceUpdatedAt }: Operation, now: number): WarningInBoth[] {
  if (sourceUpdatedAt === undefined || sourceUpdatedAt <= now + 5 * MINUTE) return [];
  return [{ field: 'sourceUpdatedAt', ...told(TEXTS.ahead), kind: 'FUTURE_TIME' }];
}

function statusWarning(operation: Operation, concluded: ReadonlySet<string>): WarningInBoth[] {
  const status = operation.op === 'delete' ? undefined : operation.bizStatus;
  if (status === undefined || OPEN_STATUSES.includes(status) || concluded.has(status)) return [];
  return [{ field: 'bizStatus', ...told(TEXTS.unknownStatus(status)), kind: 'UNKNOWN_STATUS' }];
}

function usernamesOf(operation: Operation): string[] {
  if (operation.op !== 'upsert') return [];
  const names = (operation.parties ?? []).map(({ username }) => username);
  const { initiatorUsername } = operation.content;
  if (initiatorUsername) names.push(initiatorUsername);
  return names;
}

/** @throws PushError UNKNOWN_USER naming every unknown party at once, or the first `mostErrors` */
function checkUsers(
  { operation, externalId, warnings, usernames }: ParsedPush,
  unknown: ReadonlySet<string>,
  mostErrors?: number,
): CheckedBody {
  const checked = { operation, externalId, warnings };
  if (operation.op !== 'upsert' || !usernames.some((name) => unknown.has(name))) return checked;
  const initiator = operation.content.initiatorUsername ?? undefined;
  const errors = (operation.parties ?? []).flatMap(({ username }, index) =>
    unknown.has(username)
      ? [problem(`parties[${index}].username`, TEXTS.unknownUser(username))]
      : [],
  );
  const atInitiator =
    initiator && unknown.has(initiator)
      ? [problem('initiatorUsername', TEXTS.unknownUser(initiator))]
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
