/** Rules across fields as JSON Schema. They only document: the schemas repeat them as refinements of zod. */

/** Stands for `default`, which zod omits for a schema with a transform. `openapi/json-schema.ts` renames it. */
export const ABSENT_MEANS = 'x-absent-means';

/** The value that an absent field stands for. */
export const absentMeans = (value: unknown) => ({ [ABSENT_MEANS]: value });

/** If a field has a value, another field must be present with a type. Null counts as absent. */
export const requiredIf = (field: string, value: unknown, needed: string, type: string) => ({
  if: { properties: { [field]: { const: value } }, required: [field] },
  // biome-ignore lint/suspicious/noThenProperty: it is the keyword of JSON Schema
  then: { properties: { [needed]: { type } }, required: [needed] },
});

/** If a field is true, another field must not exceed a maximum. */
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
