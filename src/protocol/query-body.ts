/** Parts of the bodies of signed queries: windows, pages, filters and lists. */
import { z } from 'zod';
import { PushError } from './errors';
import { nullIsAbsent } from './fields';
import { fieldErrors } from './json-body';
import { describe } from './language';
import { absentMeans } from './schema-rules';
import { bilingualErrors, TEXTS, zodMessage } from './texts';

const MAX_PAGE = 500;

export const pageSize = (fallback: number, max = MAX_PAGE) =>
  nullIsAbsent(z.int().min(1).max(max))
    .transform((value) => value ?? fallback)
    .meta(absentMeans(fallback));

const name = z.string().min(1).max(64);
const MAX_NAMES = 50;

export const oneOrMoreNames = nullIsAbsent(
  z.union([name, z.array(name).min(1).max(MAX_NAMES)], {
    error: zodMessage(TEXTS.names(MAX_NAMES)),
  }),
);

export const cursor = nullIsAbsent(z.string().min(1).max(200)).meta(
  describe(
    '`nextCursor` of the previous page; all other fields must stay unchanged',
    '上一页返回的 nextCursor，其他条件保持不变',
  ),
);

/** A list that is too long causes only one error, not an error for each element. */
export const bounded = <T extends z.ZodType>(element: T, max: number) =>
  z.array(z.unknown()).min(1).max(max).pipe(z.array(element));

export const WINDOW = describe(
  'A time in any form of `sourceUpdatedAt`. The start is inclusive, the end exclusive',
  '与 sourceUpdatedAt 相同的任一时间格式；时间窗含起点、不含终点',
);

/** If both fields are present, the value of `from` must be less than the value of `to`. */
export function orderedWindow<T extends z.ZodType>(schema: T, from: string, to: string) {
  return schema.refine((value) => isOrdered(value, from, to), {
    path: [to],
    message: zodMessage(TEXTS.later(from)),
  });
}

/** @throws PushError VALIDATION_FAILED that names every invalid field */
export function readQuery<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body, bilingualErrors);
  if (parsed.success) return parsed.data;
  throw new PushError('VALIDATION_FAILED', { errors: fieldErrors(parsed.error) });
}

function isOrdered(value: unknown, from: string, to: string): boolean {
  const { [from]: start, [to]: end } = value as Record<string, unknown>;
  if (start === undefined || end === undefined) return true;
  return (start as string | number) < (end as string | number);
}
