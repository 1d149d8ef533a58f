/**
 * JSON Schema for the OpenAPI document that zod does not create: defaults, and rules that combine several fields.
 * Refinements of zod enforce these rules.
 */

/**
 * Stands for the keyword `default`, which zod omits for a schema with a transform. `openapi/json-schema.ts` renames
 * ABSENT_MEANS to `default`.
 */
export const ABSENT_MEANS = 'x-absent-means';

/** Documents the value that the service uses if the field is absent. */
export const absentMeans = (value: unknown) => ({ [ABSENT_MEANS]: value });

/** If `field` has `value`, the field `needed` must be present with the JSON type `type`. Null counts as absent. */
export const requiredIf = (field: string, value: unknown, needed: string, type: string) => ({
  if: { properties: { [field]: { const: value } }, required: [field] },
  // biome-ignore lint/suspicious/noThenProperty: it is the keyword of JSON Schema
  then: { properties: { [needed]: { type } }, required: [needed] },
});

/** If `field` is true, the field `limited` must not exceed `maximum`. */
export const maximumIf = (field: string, limited: string, maximum: number) => ({
  if: { properties: { [field]: { const: true } }, required: [field] },
  // biome-ignore lint/suspicious/noThenProperty: it is the keyword of JSON Schema
  then: { properties: { [limited]: { maximum } } },
});

/** At most one of two fields (texts or lists) may be present. Null counts as absent. */
export const notBoth = (one: string, other: string) => ({
  not: {
    properties: { [one]: { type: TEXT_OR_LIST }, [other]: { type: TEXT_OR_LIST } },
    required: [one, other],
  },
});

const TEXT_OR_LIST = ['string', 'array'];
