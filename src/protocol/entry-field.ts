/** Describes a field of a push-log entry: stored form, audience and schema. */
import { z } from 'zod';
import { count, hexDigits, instant, matterId, requestId } from './answer-shape';
import { type Bilingual, describe } from './language';

export type StoredForm = 'text' | 'number' | 'instant' | 'requestId' | 'matterId';

/** Who sees the field. `clients`: clients and operators; `operators`: only operators; `service`: only the service. */
export type Audience = 'clients' | 'operators' | 'service';

export interface EntryField<
  Stored extends StoredForm | undefined = StoredForm | undefined,
  Optional extends boolean = boolean,
  ShownTo extends Audience = Audience,
  Schema extends z.ZodType = z.ZodType,
> {
  /** The form in the database; undefined if the presenter (queries/presenters/entry.ts) builds the value. */
  readonly stored: Stored;
  /** Whether an entry in the database can lack the field. */
  readonly optional: Optional;
  readonly shownTo: ShownTo;
  /** The schema of the value in answers. */
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

export function requiredField<F extends StoredForm, S extends z.ZodType>(
  { stored, schema }: Form<F, S>,
  ...description: Bilingual
): EntryField<F, false, 'clients', S> {
  const shown = schema.meta(describe(...description));
  return { stored, optional: false, shownTo: 'clients', schema: shown };
}

export function optionalField<F extends StoredForm, S extends z.ZodType>(
  { stored, schema }: Form<F, S>,
  ...description: Bilingual
): EntryField<F, true, 'clients', z.ZodNullable<S>> {
  const shown = schema.nullable().meta(describe(...description));
  return { stored, optional: true, shownTo: 'clients', schema: shown };
}

/** Describes a field whose value the presenter builds. */
export function presentedField<S extends z.ZodType>(
  schema: S,
  ...description: Bilingual
): EntryField<undefined, true, 'clients', S> {
  const shown = schema.meta(describe(...description));
  return { stored: undefined, optional: true, shownTo: 'clients', schema: shown };
}

export function operatorField<F extends StoredForm, S extends z.ZodType>({
  stored,
  schema,
}: Form<F, S>): EntryField<F, true, 'operators', z.ZodNullable<S>> {
  return { stored, optional: true, shownTo: 'operators', schema: schema.nullable() };
}

export function internalField<F extends StoredForm, S extends z.ZodType>({
  stored,
  schema,
}: Form<F, S>): EntryField<F, true, 'service', S> {
  return { stored, optional: true, shownTo: 'service', schema };
}
