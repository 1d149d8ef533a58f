/** The bodies of the queries about matters, with which a third party compares its data with ours. */
import { z } from 'zod';
import { about } from './bilingual';
import { type Problem, PushError, problem } from './errors';
import * as fields from './fields';
import { fieldErrors } from './json-body';
import { absentMeans } from './json-schema';
import { MATTER } from './matter-texts';
import { matterView } from './matter-view';
import { bounded, cursor, orderedWindow, pageSize, readQuery, WINDOW } from './query-body';
import { TEXTS } from './texts';
import { FORMS, parseDay } from './time';
import { inBoth, saying } from './zod-texts';

/** Most ids of one get, and most lines of one diff. */
const MAX_IDS = 500;
const MAX_LINES = 1_000;
const DEFAULT_PAGE = 100;

/**
 * Builds the reader of each body. That of a diff is a generator with a step for each row: a thousand rows take too
 * long to be read in one go.
 *
 * @throws (the built ones) PushError VALIDATION_FAILED
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

/** What the readers read by. */
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
      about('The matters that are asked for', '要查询的业务主键'),
    ),
  })
  .meta(about('Ids of matters', '事项的业务主键'));

/** All that are given must hold; a page of a search may be short, or empty, and not be the last. */
const searchFields = {
  externalIdPrefix: fields
    .nullIsAbsent(fields.externalId)
    .meta(about('Only matters whose `externalId` begins so', '只返回 externalId 以此开头的事项')),
  matterType: fields
    .nullIsAbsent(matterView.shape.matterType)
    .meta(about('Only matters of this kind', '只返回该事项类型')),
  phase: fields
    .nullIsAbsent(matterView.shape.phase)
    .meta(about('Only matters in this phase', '只返回处于该阶段的事项')),
  bizStatus: fields
    .nullIsAbsent(fields.bizStatus)
    .meta(about('Only matters with this status', '只返回该办理状态的事项')),
  username: fields
    .nullIsAbsent(fields.username)
    .meta(about('Only matters of which this user is a party', '只返回该用户参与的事项')),
  newestFirst: fields.nullIsAbsent(z.boolean()).meta({
    ...absentMeans(false),
    ...about(
      'True: what changed last comes first, also from page to page',
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
      .meta(about('Only matters of this type', '只返回该业务类型')),
    ...searchFields,
    limit: pageSize(DEFAULT_PAGE).meta(about('Rows of a page', '每页条数')),
    cursor,
  });
  return orderedWindow(schema, 'updatedFrom', 'updatedTo').meta(
    about(
      'A window of changes; `updatedFrom` must lie before `updatedTo`',
      '变更时间窗；updatedFrom 必须早于 updatedTo',
    ),
  );
}

/** Nothing changed here before there was a clock. */
const changeInstant = (timeZone: string) =>
  fields.anyInstant(timeZone).refine((value) => value >= 0, saying(TEXTS.before1970));

function diffRow(timeZone: string) {
  return z.object({
    externalId: fields.externalId.meta(MATTER.externalId),
    bizStatus: fields
      .nullIsAbsent(fields.bizStatus)
      .meta(about('Expected; compared where it is given', '来源系统的办理状态')),
    externalStatusCode: fields
      .text(128)
      .nullable()
      .optional()
      .meta(about('Expected; null or empty: none', '来源系统的原始状态码；null 或空表示没有')),
    sourceUpdatedAt: fields
      .anyInstant(timeZone)
      .nullable()
      .optional()
      .meta(about('Expected; null: none', '来源系统的最后更新时间；null 表示没有')),
    deleted: fields.nullIsAbsent(z.boolean()).meta(about('Expected', '来源系统中是否已删除')),
  });
}

/** What the OpenAPI document tells of it; it is read by `readDiff`. */
function diffSchema(timeZone: string) {
  return z
    .object({
      lines: bounded(diffRow(timeZone), MAX_LINES).meta(
        about(
          'What the caller expects; no id twice. What is absent is not compared.',
          '来源系统的记录，业务主键不能重复。未传的字段不比较。',
        ),
      ),
    })
    .meta(about('What the caller expects of its matters', '来源系统的事项记录'));
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
  for (const [index, one] of readQuery(diffRows, body).lines.entries()) {
    const { data, error } = row.safeParse(one, inBoth);
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

const DAY = about(
  'A day of `sourceUpdatedAt` in the time zone of the portal, inclusive',
  'sourceUpdatedAt 所在的日期（门户时区），含当天',
);

function digestSchema(timeZone: string) {
  return z
    .object({
      bizType: fields
        .nullIsAbsent(fields.bizType)
        .meta(about('Only matters of this type', '只统计该业务类型')),
      fromDay: fields.nullIsAbsent(day(timeZone)).meta(DAY),
      toDay: fields.nullIsAbsent(day(timeZone)).meta(DAY),
      open: fields.nullIsAbsent(z.boolean()).meta({
        ...absentMeans(false),
        ...about('True: without the concluded ones', '为 true 时不含已办结的事项'),
      }),
    })
    .refine(({ fromDay, toDay }) => !fromDay || !toDay || fromDay.start <= toDay.start, {
      path: ['toDay'],
      message: saying(TEXTS.notEarlier('fromDay')),
    })
    .meta(about('Which matters to count; days in their order', '统计范围；toDay 不能早于 fromDay'));
}

/** A local day of the portal's zone. */
const day = (timeZone: string) =>
  z
    .string()
    .meta(FORMS.date)
    .transform((value, ctx) => {
      const parsed = parseDay(value, timeZone);
      if (parsed) return parsed;
      ctx.issues.push({ code: 'custom', message: saying(TEXTS.day), input: value });
      return z.NEVER;
    });
