/** Shared parts of answer schemas. Only tests validate answers with these schemas. */
import { z } from 'zod';
import { describe } from './language';

export type Answer<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

type DeepReadonly<T> = T extends object ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> } : T;

/** With `satisfies`, the compiler checks that a schema has exactly the fields of `T`. */
export type ShapeOf<T> = { readonly [K in keyof T]-?: z.ZodType<T[K]> };

/** The compiler reports an error if `values` lacks a literal of the union `T`. */
export function oneOf<T extends string>(values: Readonly<Record<T, true>>): z.ZodType<T> {
  return z.enum(Object.keys(values)) as unknown as z.ZodType<T>;
}

export const instant = () => z.string().meta({ format: 'date-time' });
export const requestId = () => z.string().regex(/^[0-9a-f]{24}$/);
export const matterId = () => z.string().regex(/^\d{1,19}$/);
export const count = () => z.int().min(0).meta({ maximum: undefined });
export const hexDigits = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));

export const loggedRequestId = () =>
  requestId().meta(
    describe(
      'The id of the request in the push log. Quote this id in support requests',
      '凭它可在推送日志中查到本次请求',
    ),
  );
export const nextCursor = () =>
  z
    .string()
    .nullable()
    .meta(
      describe(
        'The cursor of the next page; null: this is the last page',
        '下一页的游标；null 表示最后一页',
      ),
    );
export const notRecorded = () =>
  count().meta(
    describe(
      'Number of pushes that match the request but have no log entry. Causes: too many rejections, or an unavailable database',
      '同类推送中因数量过多或数据库不可用而没有单独日志的次数，按分钟统计',
    ),
  );
