/** JSON Schema that zod cannot generate: defaults, and rules that combine several fields. */

/**
 * Zod omits the keyword `default` of a schema with a transform. `openapi/json-schema.ts` renames `x-absent-means` to
 * `default`.
 */
export const ABSENT_MEANS = 'x-absent-means';

export const absentMeans = (value: unknown) => ({ [ABSENT_MEANS]: value });

/** If `field` has `value`, the field `needed` must be present with the JSON type `type`. */
export const requiredIf = (field: string, value: unknown, needed: string, type: string) => ({
  if: { properties: { [field]: { const: value } }, required: [field] },
  // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema
  then: { properties: { [needed]: { type } }, required: [needed] },
});

/** If `field` is true, the field `limited` must not exceed `maximum`. */
export const maximumIf = (field: string, limited: string, maximum: number) => ({
  if: { properties: { [field]: { const: true } }, required: [field] },
  // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema
  then: { properties: { [limited]: { maximum } } },
});

/** At most one of the two fields may contain a text or a list. */
export const notBoth = (one: string, other: string) => ({
  not: {
    properties: { [one]: { type: TEXT_OR_LIST }, [other]: { type: TEXT_OR_LIST } },
    required: [one, other],
  },
});

const TEXT_OR_LIST = ['string', 'array'];
