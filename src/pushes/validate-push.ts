/** From a caller's bytes to an operation that may be queued, or to every problem they have. */
import { createHash } from 'node:crypto';
import type { Clock } from '../concurrency/clock';
import { ASSIGNED_ID_PREFIX, type Operation, type OperationName } from '../domain/operation';
import { type Problem, PushError, problem } from '../protocol/errors';
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
}

export type ValidatePush = (
  rawBody: Uint8Array,
  requestContext: RequestContext,
) => Promise<ValidPush>;
export type CheckBody = (
  body: JsonObject,
  requestContext: Pick<RequestContext, 'operation' | 'headerErrors' | 'strictFields'>,
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
  return async (body, { operation: name, headerErrors, strictFields = false }) => {
    const tooDeep = depthErrors(body);
    const parsed = tooDeep.length > 0 ? undefined : deps.parsers[name](body);
    const bodyErrors = parsed?.error ? fieldErrors(parsed.error) : tooDeep;
    const unused = unusedFields(body, name, strictFields);
    const rejected = strictFields ? unused.map(({ kind: _, suggestion: __, ...it }) => it) : [];
    const ignored = strictFields ? [] : unused;
    const errors = [...headerErrors, ...bodyErrors, ...rejected];
    if (!parsed?.success || errors.length > 0) {
      throw new PushError('VALIDATION_FAILED', { errors, warnings: ignored });
    }
    const { operation, externalId } = parsed.data;
    return {
      operation,
      externalId,
      warnings: [
        ...ignored,
        ...statusWarning(operation, deps.concluded),
        ...futureWarning(operation, deps.clock()),
        ...(await checkUsers(parsed.data, deps.unknownUsers)),
      ],
    };
  };
}

/** The matter that a body is about, where it says so: also of a body that does not pass. */
export function externalIdIn(rawBody: Uint8Array): string | undefined {
  try {
    return externalId.safeParse(parseJsonBody(rawBody).externalId).data;
  } catch (error) {
    if (error instanceof PushError) return undefined;
    throw error;
  }
}

/**
 * A notice without an id gets one that its retry gets again (decisions, "No externalId"). The body
 * counts too: another notice under a reused key is a new push and must not overwrite the first.
 */
function assignId(requestContext: RequestContext, rawBody: Uint8Array): string {
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

/** @returns warnings. @throws PushError UNKNOWN_USER naming every unknown party at once */
async function checkUsers(
  { operation }: ParsedBody,
  unknownUsers: ValidatorDependencies['unknownUsers'],
): Promise<WarningInBoth[]> {
  if (operation.op !== 'upsert') return [];
  const initiator = operation.content.initiatorUsername ?? undefined;
  const parties = operation.parties ?? [];
  const named = [...parties.map(({ username }) => username), ...(initiator ? [initiator] : [])];
  if (named.length === 0) return [];
  const unknown = new Set(await unknownUsers(named));
  if (unknown.size === 0) return [];
  const errors = parties.flatMap(({ username }, index) =>
    unknown.has(username)
      ? [problem(`parties[${index}].username`, TEXTS.unknownUser(username))]
      : [],
  );
  const atInitiator =
    initiator && unknown.has(initiator)
      ? [problem('initiatorUsername', TEXTS.unknownUser(initiator))]
      : [];
  if (operation.bizStatus === 'DRAFT') errors.push(...atInitiator);
  if (errors.length > 0) throw new PushError('UNKNOWN_USER', { errors });
  return atInitiator.map((problem) => ({ ...problem, kind: 'UNKNOWN_INITIATOR' }));
}
