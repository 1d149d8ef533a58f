/**
 * What transforms and refinements ask for, in words of JSON Schema. Schemas carry it in `meta`, beside
 * the code that decides; nothing is validated by it.
 */

/** An own keyword: of an input schema with a transform zod leaves `default` out. */
export const ABSENT_MEANS = 'x-absent-means';

/** What an absent value of the field stands for. */
export const absentMeans = (value: unknown) => ({ [ABSENT_MEANS]: value });

/** Where a field has a value, another one must be there, and of a type: null is none. */
export const needsWhere = (field: string, value: unknown, needed: string, type: string) => ({
  if: { properties: { [field]: { const: value } }, required: [field] },
  // biome-ignore lint/suspicious/noThenProperty: it is the keyword of JSON Schema
  then: { properties: { [needed]: { type } }, required: [needed] },
});

/** Where a field is true, another one must not be larger. */
export const atMostWhere = (field: string, limited: string, maximum: number) => ({
  if: { properties: { [field]: { const: true } }, required: [field] },
  // biome-ignore lint/suspicious/noThenProperty: it is the keyword of JSON Schema
  then: { properties: { [limited]: { maximum } } },
});

/** Two fields, texts or lists of them, of which one may be given; null is none. */
export const notBoth = (one: string, other: string) => ({
  not: {
    properties: { [one]: { type: TEXTS }, [other]: { type: TEXTS } },
    required: [one, other],
  },
});

const TEXTS = ['string', 'array'];
