/** What the schemas of answers are made of. They describe; nothing is parsed with them but in tests. */
import { z } from 'zod';
import { about } from './bilingual';

/** The type of an answer: that of its schema, which nobody changes. */
export type Answer<Schema extends z.ZodType> = Unchanging<z.output<Schema>>;

type Unchanging<T> = T extends object ? { readonly [Name in keyof T]: Unchanging<T[Name]> } : T;

/** Makes the compiler hold a schema against a type of the domain, field by field. */
export type ShapeOf<T> = { readonly [K in keyof T]-?: z.ZodType<T[K]> };

/** The values of a union of texts: the compiler misses none of them. */
export function oneOf<T extends string>(values: Readonly<Record<T, true>>): z.ZodType<T> {
  return z.enum(Object.keys(values)) as unknown as z.ZodType<T>;
}

export const instant = () => z.string().meta({ format: 'date-time' });
export const requestId = () => z.string().regex(/^[0-9a-f]{24}$/);
export const matterId = () => z.string().regex(/^\d{1,19}$/);
export const count = () => z.int().min(0).meta({ maximum: undefined });
/** Lower-case. */
export const hexDigits = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));

/** Of the request that a row is about. */
export const loggedRequestId = () =>
  requestId().meta(
    about(
      'Finds the request in the push log; quote it in questions',
      '凭它可在推送日志中查到本次请求',
    ),
  );
export const nextCursor = () =>
  z
    .string()
    .nullable()
    .meta(
      about(
        'Where the next page begins; null: this was the last one',
        '下一页的游标；null 表示最后一页',
      ),
    );
/** Pushes that have no entry in the push log. */
export const notRecorded = () =>
  count().meta(
    about(
      'Pushes like these that have no entry of their own, because they were rejected in crowds or while the database was away; counted to the minute',
      '同类推送中因数量过多或数据库不可用而没有单独日志的次数，按分钟统计',
    ),
  );
