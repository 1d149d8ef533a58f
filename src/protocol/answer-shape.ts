/** What the schemas of answers are made of. They describe; nothing is parsed with them but in tests. */
import { z } from 'zod';

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
