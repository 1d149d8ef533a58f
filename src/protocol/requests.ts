/** The bodies of the four operations (specification 4.1-4.4), validated into domain operations. */
import { z } from 'zod';
import type { Operation, OperationName } from '../domain/operation';
import { MAX_PARTIES } from '../domain/parties';
import * as fields from './fields';
import { absentMeans, needsWhere } from './json-schema';
import { TEXTS } from './texts';
import { inBoth, saying } from './zod-texts';

/** What the contract needs to know of the portal. */
export interface ContractSettings {
  /** IANA zone in which local date-times are read. */
  readonly timeZone: string;
  readonly clock: () => number;
}

/** A validated body: the operation and the key that it is about (absent: the service assigns one). */
export interface ParsedBody {
  readonly operation: Operation;
  readonly externalId: string | undefined;
}

export type BodyParser = (body: unknown) => z.ZodSafeParseResult<ParsedBody>;

/** Builds the parser of each operation. A parser reports every problem of a body at once. */
export function createBodyParsers(settings: ContractSettings): Record<OperationName, BodyParser> {
  const schemas = bodySchemas(settings);
  return {
    upsert: (body) => schemas.upsert.safeParse(body, inBoth),
    status: (body) => schemas.status.safeParse(body, inBoth),
    reopen: (body) => schemas.reopen.safeParse(body, inBoth),
    delete: (body) => schemas.delete.safeParse(body, inBoth),
  };
}

/** What the parsers parse by. */
export function bodySchemas(settings: ContractSettings) {
  return {
    upsert: upsertSchema(settings),
    status: statusSchema(settings, 'status', false),
    reopen: statusSchema(settings, 'reopen', true),
    delete: deleteSchema(settings),
  };
}

export const party = z.object({
  username: fields.username,
  partyRole: z.enum(['ASSIGNEE', 'CC', 'RECIPIENT']),
});

function upsertSchema({ timeZone, clock }: ContractSettings) {
  const content = {
    summary: fields.text(2_000).nullable().optional(),
    content: fields.text(65_536).nullable().optional(),
    pcUrl: fields.url.nullable().optional(),
    mobileUrl: fields.url.nullable().optional(),
    bizType: fields.bizType.nullable().optional(),
    priority: fields.text(32).nullable().optional(),
    deadlineAt: fields.localDateTime(timeZone).nullable().optional(),
    initiatorExtId: fields.text(128).nullable().optional(),
    initiatorUsername: fields.username.nullable().optional(),
    externalStatusCode: fields.text(128).nullable().optional(),
    externalStatusLabel: fields.text(256).nullable().optional(),
    payloadJson: fields.payloadJson.nullable().optional(),
  };
  return z
    .object({
      matterType: z.enum(['TODO', 'NOTICE', 'ALERT', 'REMIND']),
      externalId: fields.nullIsAbsent(fields.externalId),
      title: fields.title,
      ...content,
      // Clearing a status returns the matter to the default of a new one.
      bizStatus: fields.bizStatus
        .nullish()
        .transform((value) => (value === null ? 'PENDING' : value)),
      sourceUpdatedAt: fields.nullIsAbsent(fields.instant(timeZone, clock)),
      replaceParties: fields.nullIsAbsent(z.boolean()).meta(absentMeans(false)),
      parties: fields.nullIsAbsent(z.array(party).max(MAX_PARTIES)),
    })
    .refine((body) => body.matterType !== 'TODO' || body.externalId !== undefined, {
      path: ['externalId'],
      message: saying(TEXTS.requiredForTodo),
      when: unless('externalId'),
    })
    .refine((body) => body.replaceParties !== true || body.parties !== undefined, {
      path: ['parties'],
      message: saying(TEXTS.requiredToReplace),
      when: unless('parties'),
    })
    .meta({
      allOf: [
        needsWhere('matterType', 'TODO', 'externalId', 'string'),
        needsWhere('replaceParties', true, 'parties', 'array'),
      ],
    })
    .transform((body): ParsedBody => {
      const { matterType, externalId, title, bizStatus, sourceUpdatedAt, parties } = body;
      const { replaceParties, ...rest } = body;
      const sent = Object.entries(rest).filter(
        ([name, value]) => name in content && value !== undefined,
      );
      return {
        externalId,
        operation: {
          op: 'upsert',
          matterType,
          title,
          content: Object.fromEntries(sent),
          ...(bizStatus !== undefined && { bizStatus }),
          ...(sourceUpdatedAt !== undefined && { sourceUpdatedAt }),
          ...(parties !== undefined && { parties }),
          replaceParties: replaceParties ?? false,
          assignedId: externalId === undefined,
        },
      };
    });
}

function statusSchema(
  { timeZone, clock }: ContractSettings,
  op: 'status' | 'reopen',
  resets: boolean,
) {
  return z
    .object({
      externalId: fields.externalId,
      bizStatus: fields.nullIsAbsent(fields.bizStatus),
      externalStatusCode: fields.text(128).nullable().optional(),
      externalStatusLabel: fields.text(256).nullable().optional(),
      sourceUpdatedAt: fields.nullIsAbsent(fields.instant(timeZone, clock)),
      resetAssigneeUnread: fields.nullIsAbsent(z.boolean()).meta(absentMeans(resets)),
    })
    .transform(
      ({ externalId, resetAssigneeUnread, ...rest }): ParsedBody => ({
        externalId,
        operation: { op, ...rest, resetAssigneeUnread: resetAssigneeUnread ?? resets },
      }),
    );
}

function deleteSchema({ timeZone, clock }: ContractSettings) {
  return z
    .object({
      externalId: fields.externalId,
      sourceUpdatedAt: fields.nullIsAbsent(fields.instant(timeZone, clock)),
    })
    .transform(
      ({ externalId, ...rest }): ParsedBody => ({
        externalId,
        operation: { op: 'delete', ...rest },
      }),
    );
}

/** Rules across fields run beside other fields' errors, so that every problem is named at once. */
function unless(field: string) {
  return ({ issues, value }: z.core.ParsePayload) =>
    typeof value === 'object' &&
    value !== null &&
    !issues.some((issue) => issue.path?.[0] === field);
}
