/** What the bodies of the query endpoints have in common: windows and pages. */
import { z } from 'zod';
import { about } from './bilingual';
import { PushError } from './errors';
import { nullIsAbsent } from './fields';
import { fieldErrors } from './json-body';
import { absentMeans } from './json-schema';
import { TEXTS } from './texts';
import { inBoth, saying } from './zod-texts';

/** Most rows of one page. */
const MAX_PAGE = 500;

export const pageSize = (fallback: number, max = MAX_PAGE) =>
  nullIsAbsent(z.int().min(1).max(max))
    .transform((value) => value ?? fallback)
    .meta(absentMeans(fallback));

const word = z.string().min(1).max(64);
/** Most values of a filter that takes several. */
const MAX_WORDS = 50;

/** One name in capitals, or a list of those of which one must hold. */
export const oneOrMoreWords = nullIsAbsent(
  z.union([word, z.array(word).min(1).max(MAX_WORDS)], {
    error: saying(TEXTS.names(MAX_WORDS)),
  }),
);

export const cursor = nullIsAbsent(z.string().min(1).max(200)).meta(
  about(
    '`nextCursor` of the page before, with everything else unchanged',
    '上一页返回的 nextCursor，其他条件保持不变',
  ),
);

/** A list. The length comes first: one far too long is rejected without a word about each element. */
export const bounded = <T extends z.ZodType>(element: T, max: number) =>
  z.array(z.unknown()).min(1).max(max).pipe(z.array(element));

/** Of both ends of a window. */
export const WINDOW = about(
  'In any form that `sourceUpdatedAt` takes; the window includes its beginning and excludes its end',
  '与 sourceUpdatedAt 相同的任一时间格式；时间窗含起点、不含终点',
);

/**
 * Refines an object whose fields `from` and `to` span a window: the first belongs to it, the second
 * does not.
 */
export function orderedWindow<T extends z.ZodType>(schema: T, from: string, to: string) {
  return schema.refine((value) => isOrdered(value, from, to), {
    path: [to],
    message: saying(TEXTS.later(from)),
  });
}

/** @throws PushError VALIDATION_FAILED naming every field that is wrong */
export function readQuery<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body, inBoth);
  if (parsed.success) return parsed.data;
  throw new PushError('VALIDATION_FAILED', { errors: fieldErrors(parsed.error) });
}

function isOrdered(value: unknown, from: string, to: string): boolean {
  const { [from]: start, [to]: end } = value as Record<string, unknown>;
  if (start === undefined || end === undefined) return true;
  return (start as string | number) < (end as string | number);
}
