/** The bodies of the queries about matters, with which a third party compares its data with ours. */
import { z } from 'zod';
import * as fields from './fields';
import { absentMeans } from './json-schema';
import { bounded, cursor, orderedWindow, pageSize, readQuery } from './query-body';
import { TEXTS } from './texts';
import { FORMS, parseDay } from './time';
import { saying } from './zod-texts';

/** Most ids of one get, and most lines of one diff. */
const MAX_IDS = 500;
const MAX_LINES = 1_000;
const DEFAULT_PAGE = 100;

/** Builds the reader of each body. @throws (the built ones) PushError VALIDATION_FAILED */
export function createMatterQueryReaders(timeZone: string) {
  const { get, query, diff, digest } = matterQuerySchemas(timeZone);
  return {
    get: (body: unknown) => readQuery(get, body),
    query: (body: unknown) => readQuery(query, body),
    diff: (body: unknown) => readQuery(diff, body),
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

const getSchema = z.object({ externalIds: bounded(fields.externalId, MAX_IDS) });

function querySchema(timeZone: string) {
  const schema = z.object({
    updatedFrom: fields.nullIsAbsent(changeInstant(timeZone)),
    updatedTo: fields.nullIsAbsent(changeInstant(timeZone)),
    bizType: fields.nullIsAbsent(fields.bizType),
    limit: pageSize(DEFAULT_PAGE),
    cursor,
  });
  return orderedWindow(schema, 'updatedFrom', 'updatedTo');
}

/** Nothing changed here before there was a clock. */
const changeInstant = (timeZone: string) =>
  fields.anyInstant(timeZone).refine((value) => value >= 0, saying(TEXTS.before1970));

function diffSchema(timeZone: string) {
  const line = z.object({
    externalId: fields.externalId,
    bizStatus: fields.nullIsAbsent(fields.bizStatus),
    externalStatusCode: fields.text(128).nullable().optional(),
    sourceUpdatedAt: fields.anyInstant(timeZone).nullable().optional(),
    deleted: fields.nullIsAbsent(z.boolean()),
  });
  const lines = bounded(line, MAX_LINES).superRefine((parsed, ctx) => {
    const seen = new Set<string>();
    for (const [index, { externalId }] of parsed.entries()) {
      if (seen.has(externalId)) {
        ctx.addIssue({
          code: 'custom',
          path: [index, 'externalId'],
          message: saying(TEXTS.repeated),
        });
      }
      seen.add(externalId);
    }
  });
  return z.object({ lines });
}

function digestSchema(timeZone: string) {
  return z
    .object({
      bizType: fields.nullIsAbsent(fields.bizType),
      fromDay: fields.nullIsAbsent(day(timeZone)),
      toDay: fields.nullIsAbsent(day(timeZone)),
      open: fields.nullIsAbsent(z.boolean()).meta(absentMeans(false)),
    })
    .refine(({ fromDay, toDay }) => !fromDay || !toDay || fromDay.start <= toDay.start, {
      path: ['toDay'],
      message: saying(TEXTS.notEarlier('fromDay')),
    });
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
