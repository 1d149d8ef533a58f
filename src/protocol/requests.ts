/** Validates the body of a push (contract 4.1 to 4.4) and converts the body to an `Operation`. */
import { z } from 'zod';
import { CONTENT_FIELDS, type MatterContent } from '../domain/matter';
import type { Operation, OperationName, Upsert } from '../domain/operation';
import { MAX_LENGTH } from './field-rules';
import * as fields from './fields';
import { describe } from './language';
import { MATTER, PUSHED_STATUS } from './matter-view';
import { checkRemovals, NO_REMOVAL_IF_REPLACED, PARTY_FIELDS } from './party-fields';
import { absentMeans, requiredIf } from './schema-rules';
import { bilingualErrors, TEXTS, zodMessage } from './texts';

export interface ContractSettings {
  /** IANA time zone of local date-times. */
  readonly timeZone: string;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

export interface ParsedBody {
  readonly operation: Operation;
  /** Undefined if the service assigns the id. */
  readonly externalId: string | undefined;
}

export type BodyParser = (body: unknown) => z.ZodSafeParseResult<ParsedBody>;

/** Each parser reports all problems of a body. */
export function createBodyParsers(settings: ContractSettings): Record<OperationName, BodyParser> {
  const schemas = bodySchemas(settings);
  return {
    upsert: (body) => schemas.upsert.safeParse(body, bilingualErrors),
    status: (body) => schemas.status.safeParse(body, bilingualErrors),
    reopen: (body) => schemas.reopen.safeParse(body, bilingualErrors),
    delete: (body) => schemas.delete.safeParse(body, bilingualErrors),
  };
}

export function bodySchemas(settings: ContractSettings) {
  return {
    upsert: upsertSchema(settings),
    status: statusSchema(settings),
    reopen: reopenSchema(settings),
    delete: deleteSchema(settings),
  };
}

function upsertSchema({ timeZone, clock }: ContractSettings) {
  return z
    .object({
      matterType: z.enum(['TODO', 'NOTICE', 'ALERT', 'REMIND']).meta(MATTER.matterType),
      externalId: fields
        .nullIsAbsent(fields.externalId)
        .meta(
          describe(
            'The business key in the source system; required for a TODO. If absent, the service assigns an id that starts with `auto:`. A retry gets the same id. Ids of source systems must not start with `auto:`.',
            '来源系统的业务主键，TODO 必填。不传时由服务分配以 auto: 开头的编号，重试得到同一编号；自有编号不能以 auto: 开头。',
          ),
        ),
      title: fields.title.meta(MATTER.title),
      ...contentFields(timeZone),
      bizStatus: fields.bizStatus
        .nullish()
        .transform((value) => (value === null ? 'PENDING' : value))
        .meta(PUSHED_STATUS.upsert),
      sourceUpdatedAt: fields
        .nullIsAbsent(fields.pushedInstant(timeZone, clock))
        .meta(MATTER.pushedTime),
      ...PARTY_FIELDS,
    })
    .refine((body) => body.matterType !== 'TODO' || body.externalId !== undefined, {
      path: ['externalId'],
      message: zodMessage(TEXTS.requiredForTodo),
      when: ifValid('externalId'),
    })
    .refine((body) => body.replaceParties !== true || body.parties !== undefined, {
      path: ['parties'],
      message: zodMessage(TEXTS.requiredToReplace),
      when: ifValid('parties'),
    })
    .superRefine(checkRemovals, { when: whenRemoving })
    .meta({
      ...describe(
        'An absent field is not changed; null clears a field',
        '未传的字段保持不变，null 清空',
      ),
      allOf: [
        requiredIf('matterType', 'TODO', 'externalId', 'string'),
        requiredIf('replaceParties', true, 'parties', 'array'),
        NO_REMOVAL_IF_REPLACED,
      ],
    })
    .transform((body) => toUpsert(body));
}

type UpsertBody = Omit<Upsert, 'op' | 'content' | 'replaceParties' | 'assignedId'> &
  Upsert['content'] & {
    readonly externalId?: string | undefined;
    readonly replaceParties?: boolean | undefined;
  };

function toUpsert(body: UpsertBody): ParsedBody {
  const { matterType, externalId, title, bizStatus, sourceUpdatedAt } = body;
  const { parties, removeParties } = body;
  const content: Record<string, unknown> = {};
  for (const name of CONTENT_FIELDS) if (body[name] !== undefined) content[name] = body[name];
  return {
    externalId,
    operation: {
      op: 'upsert',
      matterType,
      title,
      content,
      replaceParties: body.replaceParties ?? false,
      assignedId: externalId === undefined,
      ...(bizStatus !== undefined && { bizStatus }),
      ...(sourceUpdatedAt !== undefined && { sourceUpdatedAt }),
      ...(parties !== undefined && { parties }),
      ...(removeParties !== undefined && { removeParties }),
    },
  };
}

const contentFields = (timeZone: string) =>
  ({
    summary: fields.text(MAX_LENGTH.summary).nullable().optional().meta(MATTER.summary),
    content: fields.text(MAX_LENGTH.content).nullable().optional().meta(MATTER.content),
    pcUrl: fields.url.nullable().optional().meta(MATTER.pcUrl),
    mobileUrl: fields.url.nullable().optional().meta(MATTER.mobileUrl),
    bizType: fields.bizType.nullable().optional().meta(MATTER.bizType),
    priority: fields.text(MAX_LENGTH.priority).nullable().optional().meta(MATTER.priority),
    deadlineAt: fields.localDateTime(timeZone).nullable().optional().meta(MATTER.deadlineAt),
    initiatorExtId: fields
      .text(MAX_LENGTH.initiatorExtId)
      .nullable()
      .optional()
      .meta(MATTER.initiatorExtId),
    initiatorUsername: fields.username.nullable().optional().meta(MATTER.initiatorUsername),
    externalStatusCode: fields
      .text(MAX_LENGTH.externalStatusCode)
      .nullable()
      .optional()
      .meta(MATTER.externalStatusCode),
    externalStatusLabel: fields
      .text(MAX_LENGTH.externalStatusLabel)
      .nullable()
      .optional()
      .meta(MATTER.externalStatusLabel),
    payloadJson: fields.payloadJson.nullable().optional().meta(MATTER.payloadJson),
  }) satisfies Readonly<Record<keyof MatterContent, z.ZodType>>;

const statusFields = (
  { timeZone, clock }: ContractSettings,
  op: 'status' | 'reopen',
  resetsByDefault: boolean,
) => ({
  externalId: fields.externalId.meta(MATTER.externalId),
  bizStatus: fields.nullIsAbsent(fields.bizStatus).meta(PUSHED_STATUS[op]),
  externalStatusCode: fields
    .text(MAX_LENGTH.externalStatusCode)
    .nullable()
    .optional()
    .meta(MATTER.externalStatusCode),
  externalStatusLabel: fields
    .text(MAX_LENGTH.externalStatusLabel)
    .nullable()
    .optional()
    .meta(MATTER.externalStatusLabel),
  sourceUpdatedAt: fields
    .nullIsAbsent(fields.pushedInstant(timeZone, clock))
    .meta(MATTER.pushedTime),
  resetAssigneeUnread: fields.nullIsAbsent(z.boolean()).meta({
    ...absentMeans(resetsByDefault),
    ...describe('Whether the matter becomes unread for its ASSIGNEEs', '是否把处理人重新置为未读'),
  }),
});

const statusSchema = (settings: ContractSettings) =>
  z
    .object({
      ...statusFields(settings, 'status', false),
      removeParties: PARTY_FIELDS.removeParties,
    })
    .meta(describe('A change of status', '状态变更'))
    .transform(
      ({ externalId, resetAssigneeUnread = false, ...rest }): ParsedBody => ({
        externalId,
        operation: { op: 'status', ...rest, resetAssigneeUnread },
      }),
    );

const reopenSchema = (settings: ContractSettings) =>
  z
    .object(statusFields(settings, 'reopen', true))
    .meta(describe('A reopening', '重新打开'))
    .transform(
      ({ externalId, resetAssigneeUnread = true, ...rest }): ParsedBody => ({
        externalId,
        operation: { op: 'reopen', ...rest, resetAssigneeUnread },
      }),
    );

function deleteSchema({ timeZone, clock }: ContractSettings) {
  return z
    .object({
      externalId: fields.externalId.meta(MATTER.externalId),
      sourceUpdatedAt: fields
        .nullIsAbsent(fields.pushedInstant(timeZone, clock))
        .meta(MATTER.pushedTime),
    })
    .meta(describe('A soft delete', '软删除'))
    .transform(
      ({ externalId, ...rest }): ParsedBody => ({
        externalId,
        operation: { op: 'delete', ...rest },
      }),
    );
}

/** With this `when`, a rule runs only if all fields in `names` are valid. Other fields can be invalid. */
function ifValid(...names: readonly string[]) {
  return ({ issues, value }: z.core.ParsePayload) =>
    typeof value === 'object' &&
    value !== null &&
    !issues.some((issue) => names.includes(String(issue.path?.[0])));
}

const areListsValid = ifValid('parties', 'removeParties');

function whenRemoving(payload: z.core.ParsePayload): boolean {
  const { value } = payload;
  if (typeof value !== 'object' || value === null || !('removeParties' in value)) return false;
  return value.removeParties !== undefined && areListsValid(payload);
}
