/** The bodies of the four operations (specification 4.1-4.4), validated into domain operations. */
import { z } from 'zod';
import { CONTENT_FIELDS, type MatterContent } from '../domain/matter';
import type { Operation, OperationName, Upsert } from '../domain/operation';
import { MAX_PARTIES } from '../domain/parties';
import { about } from './bilingual';
import * as fields from './fields';
import { absentMeans, needsWhere } from './json-schema';
import { MATTER, PUSHED_STATUS } from './matter-texts';
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

export const party = z
  .object({
    username: fields.username.meta(MATTER.username),
    partyRole: z.enum(['ASSIGNEE', 'CC', 'RECIPIENT']).meta(MATTER.partyRole),
  })
  .meta(about('A party of a matter, as it is pushed', '推送的参与人'));

/** The length of the list is checked before its elements. The type is that of a party for the client's types. */
const uncheckedParty = z.unknown() as z.ZodType<unknown, z.input<typeof party>>;

function upsertSchema({ timeZone, clock }: ContractSettings) {
  return z
    .object({
      matterType: z.enum(['TODO', 'NOTICE', 'ALERT', 'REMIND']).meta(MATTER.matterType),
      externalId: fields
        .nullIsAbsent(fields.externalId)
        .meta(
          about(
            'The business key of the caller; needed for a TODO. Without it the service assigns one that starts with `auto:`, the same again for a retry. Own ids may not start with `auto:`.',
            '来源系统的业务主键，TODO 必填。不传时由服务分配以 auto: 开头的编号，重试得到同一编号；自有编号不能以 auto: 开头。',
          ),
        ),
      title: fields.title.meta(MATTER.title),
      ...contentFields(timeZone),
      // Clearing a status returns the matter to the default of a new one.
      bizStatus: fields.bizStatus
        .nullish()
        .transform((value) => (value === null ? 'PENDING' : value))
        .meta(PUSHED_STATUS.upsert),
      sourceUpdatedAt: fields.nullIsAbsent(fields.instant(timeZone, clock)).meta(MATTER.pushedTime),
      replaceParties: fields.nullIsAbsent(z.boolean()).meta({
        ...absentMeans(false),
        ...about(
          'True: the list of parties becomes exactly `parties`. Whoever stays keeps the read state.',
          '为 true 时参与人列表整体替换为 parties；保留下来的人保持已读状态。',
        ),
      }),
      parties: fields
        .nullIsAbsent(z.array(uncheckedParty).max(MAX_PARTIES).pipe(z.array(party)))
        .meta(
          about(
            'Parties, merged with those that are there by username and role unless `replaceParties` is true; newcomers start unread',
            '参与人：按登录名和角色与已有参与人合并，replaceParties 为 true 时整体替换；新参与人为未读',
          ),
        ),
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
      ...about(
        'A field that is absent stays as it is, null clears it',
        '未传的字段保持不变，null 清空',
      ),
      allOf: [
        needsWhere('matterType', 'TODO', 'externalId', 'string'),
        needsWhere('replaceParties', true, 'parties', 'array'),
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
  const { matterType, externalId, title, bizStatus, sourceUpdatedAt, parties } = body;
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
    },
  };
}

/** Fields that may be absent, and that null clears. */
const contentFields = (timeZone: string) =>
  ({
    summary: fields.text(2_000).nullable().optional().meta(MATTER.summary),
    content: fields.text(65_536).nullable().optional().meta(MATTER.content),
    pcUrl: fields.url.nullable().optional().meta(MATTER.pcUrl),
    mobileUrl: fields.url.nullable().optional().meta(MATTER.mobileUrl),
    bizType: fields.bizType.nullable().optional().meta(MATTER.bizType),
    priority: fields.text(32).nullable().optional().meta(MATTER.priority),
    deadlineAt: fields.localDateTime(timeZone).nullable().optional().meta(MATTER.deadlineAt),
    initiatorExtId: fields.text(128).nullable().optional().meta(MATTER.initiatorExtId),
    initiatorUsername: fields.username.nullable().optional().meta(MATTER.initiatorUsername),
    externalStatusCode: fields.text(128).nullable().optional().meta(MATTER.externalStatusCode),
    externalStatusLabel: fields.text(256).nullable().optional().meta(MATTER.externalStatusLabel),
    payloadJson: fields.payloadJson.nullable().optional().meta(MATTER.payloadJson),
  }) satisfies Readonly<Record<keyof MatterContent, z.ZodType>>;

const STATUS_BODY = {
  status: about('A change of status', '状态变更'),
  reopen: about('A reopening', '重新打开'),
};

function statusSchema(
  { timeZone, clock }: ContractSettings,
  op: 'status' | 'reopen',
  resets: boolean,
) {
  return z
    .object({
      externalId: fields.externalId.meta(MATTER.externalId),
      bizStatus: fields.nullIsAbsent(fields.bizStatus).meta(PUSHED_STATUS[op]),
      externalStatusCode: fields.text(128).nullable().optional().meta(MATTER.externalStatusCode),
      externalStatusLabel: fields.text(256).nullable().optional().meta(MATTER.externalStatusLabel),
      sourceUpdatedAt: fields.nullIsAbsent(fields.instant(timeZone, clock)).meta(MATTER.pushedTime),
      resetAssigneeUnread: fields.nullIsAbsent(z.boolean()).meta({
        ...absentMeans(resets),
        ...about(
          'Whether it becomes unread again for those who handle it',
          '是否把处理人重新置为未读',
        ),
      }),
    })
    .meta(STATUS_BODY[op])
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
      externalId: fields.externalId.meta(MATTER.externalId),
      sourceUpdatedAt: fields.nullIsAbsent(fields.instant(timeZone, clock)).meta(MATTER.pushedTime),
    })
    .meta(about('A soft delete', '软删除'))
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
