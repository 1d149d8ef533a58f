/** How a field of the push log is described: what the database keeps of it, who is shown it, and how. */
import { z } from 'zod';
import { count, hexDigits, instant, matterId, requestId } from './answer-shape';
import { about, type Bilingual } from './bilingual';

/** What the database keeps under the field's name (storage/push-log/entry-model.ts has their types). */
export type StoredForm = 'text' | 'number' | 'instant' | 'requestId' | 'matterId';

/** `nobody`: the service needs it and shows it to no one, or shows other fields that are made of it. */
export type Audience = 'clients' | 'operators' | 'nobody';

export interface EntryField<
  Stored extends StoredForm | undefined = StoredForm | undefined,
  Optional extends boolean = boolean,
  ShownTo extends Audience = Audience,
  Schema extends z.ZodType = z.ZodType,
> {
  /** Undefined: it is made of other fields, or its value has a structure of its own. */
  readonly stored: Stored;
  /** Whether there are entries without it. They are shown with null. */
  readonly optional: Optional;
  readonly shownTo: ShownTo;
  /** Of the value that is shown. */
  readonly schema: Schema;
}

interface Form<Stored extends StoredForm, Schema extends z.ZodType> {
  readonly stored: Stored;
  readonly schema: Schema;
}

export const TEXT = { stored: 'text', schema: z.string() } as const;
export const hex = (digits: number) => ({ stored: 'text', schema: hexDigits(digits) }) as const;
export const NUMBER = { stored: 'number', schema: count() } as const;
export const INSTANT = { stored: 'instant', schema: instant() } as const;
export const REQUEST_ID = { stored: 'requestId', schema: requestId() } as const;
export const MATTER_ID = { stored: 'matterId', schema: matterId() } as const;

/** In every entry. */
export function always<F extends StoredForm, S extends z.ZodType>(
  { stored, schema }: Form<F, S>,
  ...description: Bilingual
): EntryField<F, false, 'clients', S> {
  const shown = schema.meta(about(...description));
  return { stored, optional: false, shownTo: 'clients', schema: shown };
}

/** In some entries. */
export function sometimes<F extends StoredForm, S extends z.ZodType>(
  { stored, schema }: Form<F, S>,
  ...description: Bilingual
): EntryField<F, true, 'clients', z.ZodNullable<S>> {
  const shown = schema.nullable().meta(about(...description));
  return { stored, optional: true, shownTo: 'clients', schema: shown };
}

/** Of a structure of its own, or made of other fields: the presenter says how (queries/presenters/entry.ts). */
export function presented<S extends z.ZodType>(
  schema: S,
  ...description: Bilingual
): EntryField<undefined, true, 'clients', S> {
  const shown = schema.meta(about(...description));
  return { stored: undefined, optional: true, shownTo: 'clients', schema: shown };
}

/** In some entries, and for operators alone: no part of the answer to clients. */
export function forOperators<F extends StoredForm, S extends z.ZodType>({
  stored,
  schema,
}: Form<F, S>): EntryField<F, true, 'operators', z.ZodNullable<S>> {
  return { stored, optional: true, shownTo: 'operators', schema: schema.nullable() };
}

/** In some entries, and shown to nobody. */
export function internal<F extends StoredForm, S extends z.ZodType>({
  stored,
  schema,
}: Form<F, S>): EntryField<F, true, 'nobody', S> {
  return { stored, optional: true, shownTo: 'nobody', schema };
}
