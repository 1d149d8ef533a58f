/** The bodies of `matters/get`, `matters/query`, `matters/diff` and `matters/digest`. */
import { z } from 'zod';
import { type Problem, PushError, problem } from './errors';
import * as fields from './fields';
import { fieldErrors } from './json-body';
import { describe } from './language';
import { parseDay } from './local-day';
import { MATTER, matterView } from './matter-view';
import { bounded, cursor, orderedWindow, pageSize, readQuery, WINDOW } from './query-body';
import { absentMeans } from './schema-rules';
import { bilingualErrors, TEXTS, zodMessage } from './texts';
import { FORMS } from './time';

const MAX_IDS = 500;
const MAX_LINES = 1_000;
const DEFAULT_PAGE = 100;

/**
 * Each reader throws PushError VALIDATION_FAILED if the body is invalid. `diff` is a generator that yields after each
 * line, so that other requests can run.
 */
export function createMatterQueryReaders(timeZone: string) {
  const { get, query, digest } = matterQuerySchemas(timeZone);
  const row = diffRow(timeZone);
  return {
    get: (body: unknown) => readQuery(get, body),
    query: (body: unknown) => readQuery(query, body),
    diff: (body: unknown) => readDiff(row, body),
    digest: (body: unknown) => readQuery(digest, body),
  };
}

/** @param timeZone PORTAL_TIME_ZONE */
export function matterQuerySchemas(timeZone: string) {
  return {
    get: getSchema,
    query: querySchema(timeZone),
    diff: diffSchema(timeZone),
    digest: digestSchema(timeZone),
  };
}

const getSchema = z
  .object({
    externalIds: bounded(fields.externalId, MAX_IDS).meta(
      describe('The requested matters', '要查询的业务主键'),
    ),
  })
  .meta(describe('Ids of matters', '事项的业务主键'));

/** Fields of `matters/query` that select or sort matters. A matter must match all filters. */
const searchFields = {
  externalIdPrefix: fields
    .nullIsAbsent(fields.externalId)
    .meta(
      describe(
        'Only matters whose `externalId` begins with this text',
        '只返回 externalId 以此开头的事项',
      ),
    ),
  matterType: fields
    .nullIsAbsent(matterView.shape.matterType)
    .meta(describe('Only matters of this type', '只返回该事项类型')),
  phase: fields
    .nullIsAbsent(matterView.shape.phase)
    .meta(describe('Only matters in this phase', '只返回处于该阶段的事项')),
  bizStatus: fields
    .nullIsAbsent(fields.bizStatus)
    .meta(describe('Only matters with this status', '只返回该办理状态的事项')),
  username: fields
    .nullIsAbsent(fields.username)
    .meta(describe('Only matters with this user as a party', '只返回该用户参与的事项')),
  titleContains: fields
    .nullIsAbsent(fields.searchWords)
    .meta(
      describe(
        'Only matters whose title contains all these words, in any order and case. Not permitted for query keys without access to bodies',
        '只返回标题包含全部这些词的事项：以空白分隔，不分先后、不分大小写。无正文权限的查询密钥不能使用',
      ),
    ),
  newestFirst: fields.nullIsAbsent(z.boolean()).meta({
    ...absentMeans(false),
    ...describe(
      'True: matters with the latest changes come first',
      '为 true 时按变更时间倒序返回（翻页同序）',
    ),
  }),
};

function querySchema(timeZone: string) {
  const schema = z.object({
    updatedFrom: fields.nullIsAbsent(changeInstant(timeZone)).meta(WINDOW),
    updatedTo: fields.nullIsAbsent(changeInstant(timeZone)).meta(WINDOW),
    bizType: fields
      .nullIsAbsent(fields.bizType)
      .meta(describe('Only matters of this business type', '只返回该业务类型')),
    ...searchFields,
    limit: pageSize(DEFAULT_PAGE).meta(describe('Maximum matters of a page', '每页条数')),
    cursor,
  });
  return orderedWindow(schema, 'updatedFrom', 'updatedTo').meta(
    describe(
      'A window of changes; `updatedFrom` must be before `updatedTo`',
      '变更时间窗；updatedFrom 必须早于 updatedTo',
    ),
  );
}

const changeInstant = (timeZone: string) =>
  fields.anyInstant(timeZone).refine((value) => value >= 0, zodMessage(TEXTS.before1970));

function diffRow(timeZone: string) {
  return z.object({
    externalId: fields.externalId.meta(MATTER.externalId),
    bizStatus: fields
      .nullIsAbsent(fields.bizStatus)
      .meta(
        describe(
          'The status in the source system. The service does not compare an absent status',
          '来源系统的办理状态',
        ),
      ),
    externalStatusCode: fields
      .text(128)
      .nullable()
      .optional()
      .meta(
        describe(
          'The original status code in the source system; null or empty means no code',
          '来源系统的原始状态码；null 或空表示没有',
        ),
      ),
    sourceUpdatedAt: fields
      .anyInstant(timeZone)
      .nullable()
      .optional()
      .meta(
        describe(
          'The time of the last change in the source system; null means no time',
          '来源系统的最后更新时间；null 表示没有',
        ),
      ),
    deleted: fields
      .nullIsAbsent(z.boolean())
      .meta(describe('Whether the matter is deleted in the source system', '来源系统中是否已删除')),
  });
}

/** Only for the OpenAPI document. `readDiff` uses `diffRows` and `diffRow` to validate a body. */
function diffSchema(timeZone: string) {
  return z
    .object({
      lines: bounded(diffRow(timeZone), MAX_LINES).meta(
        describe(
          'The matters of the source system, each id once. The service does not compare absent fields. Exception: an absent `deleted` means false.',
          '来源系统的记录，业务主键不能重复。未传的字段不比较，deleted 除外（默认 false）。',
        ),
      ),
    })
    .meta(describe('The matters of the source system', '来源系统的事项记录'));
}

const diffRows = z.object({ lines: z.array(z.unknown()).min(1).max(MAX_LINES) });

type DiffRow = z.output<ReturnType<typeof diffRow>>;

function* readDiff(
  row: ReturnType<typeof diffRow>,
  body: unknown,
): Generator<void, { readonly lines: readonly DiffRow[] }> {
  const lines: DiffRow[] = [];
  const errors: Problem[] = [];
  const seen = new Set<string>();
  for (const [index, line] of readQuery(diffRows, body).lines.entries()) {
    const { data, error } = row.safeParse(line, bilingualErrors);
    if (error) errors.push(...fieldErrors(error, undefined, ['lines', index]));
    else {
      const field = `lines[${index}].externalId`;
      if (seen.has(data.externalId)) errors.push(problem(field, TEXTS.repeated));
      seen.add(data.externalId);
      lines.push(data);
    }
    yield;
  }
  if (errors.length > 0) throw new PushError('VALIDATION_FAILED', { errors });
  return { lines };
}

const dayOfUpdate = (position: 'first' | 'last') =>
  describe(
    `The ${position} day to select, by \`sourceUpdatedAt\` in the time zone of the portal`,
    'sourceUpdatedAt 所在的日期（门户时区），含当天',
  );

function digestSchema(timeZone: string) {
  return z
    .object({
      bizType: fields
        .nullIsAbsent(fields.bizType)
        .meta(describe('Only matters of this business type', '只统计该业务类型')),
      fromDay: fields.nullIsAbsent(day(timeZone)).meta(dayOfUpdate('first')),
      toDay: fields.nullIsAbsent(day(timeZone)).meta(dayOfUpdate('last')),
      open: fields.nullIsAbsent(z.boolean()).meta({
        ...absentMeans(false),
        ...describe('True: concluded matters are not counted', '为 true 时不含已办结的事项'),
      }),
    })
    .refine(({ fromDay, toDay }) => !fromDay || !toDay || fromDay.start <= toDay.start, {
      path: ['toDay'],
      message: zodMessage(TEXTS.notEarlier('fromDay')),
    })
    .meta(
      describe(
        'The matters to count; `toDay` must not be before `fromDay`',
        '统计范围；toDay 不能早于 fromDay',
      ),
    );
}

const day = (timeZone: string) =>
  z
    .string()
    .meta(FORMS.date)
    .transform((value, ctx) => {
      const parsed = parseDay(value, timeZone);
      if (parsed) return parsed;
      ctx.issues.push({ code: 'custom', message: zodMessage(TEXTS.day), input: value });
      return z.NEVER;
    });
