/** The content of the tables of fields. Pure. */
import { pairOf } from './text.js';
import { RULES } from './words.js';

/** @typedef {import('./shapes').Schema} Schema */
/** @typedef {import('./shapes').Words} Words */
/** @typedef {string | { readonly ref: string }} TypePart */
/** @typedef {{ name: string, required: boolean, type: TypePart[], rules: Words[], about: Words }} Field */

/** The last part of `#/components/schemas/Party`. @param {string} ref */
export const nameOf = (ref) => ref.slice(ref.lastIndexOf('/') + 1);

/** Schemas that a schema refers to directly. @param {Schema} schema @returns {string[]} */
const refsOf = (schema) => [
  ...(schema.$ref ? [nameOf(schema.$ref)] : []),
  ...[schema.items, schema.contentSchema].flatMap((part) => (part ? refsOf(part) : [])),
  ...[...Object.values(schema.properties ?? {}), ...optionsOf(schema)].flatMap(refsOf),
];

/**
 * All schemas that a schema refers to, directly or through others: each once, the nearest first.
 *
 * @param {Readonly<Record<string, Schema>>} schemas
 * @param {Schema} schema
 * @returns {string[]}
 */
export function neededBy(schemas, schema) {
  const names = new Set(refsOf(schema));
  // The loop also visits names that are added to the set meanwhile.
  for (const name of names) {
    for (const ref of refsOf(schemas[name] ?? {})) names.add(ref);
  }
  return [...names];
}

/**
 * The fields of a schema, including those of unnamed objects inside, such as `lines[].externalId`.
 *
 * @param {Schema} schema
 * @param {string} [prefix]
 * @returns {Field[]}
 */
export function fieldsOf(schema, prefix = '') {
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const name = prefix + key;
    const field = {
      name,
      required: schema.required?.includes(key) ?? false,
      type: typeOf(value),
      rules: rulesOf(value),
      about: pairOf(value.description),
    };
    return [field, ...fieldsOf(value, `${name}.`)];
  });
  const list = schema.items ? fieldsOf(schema.items, `${prefix.replace(/\.$/, '')}[].`) : [];
  return [...own, ...list, ...optionsOf(schema).flatMap((option) => fieldsOf(option, prefix))];
}

/** @param {Schema} schema */
const optionsOf = ({ anyOf, oneOf }) => anyOf ?? oneOf ?? [];

/** @param {Schema} schema @returns {TypePart[]} texts and names of other schemas */
export function typeOf(schema) {
  const { $ref, const: only, enum: values, items, type } = schema;
  const options = optionsOf(schema);
  if ($ref) return [{ ref: nameOf($ref) }];
  if (options.length > 0) return between(options.map(typeOf));
  if (only !== undefined) return [JSON.stringify(only)];
  if (values) return [values.map((value) => JSON.stringify(value)).join(' | ')];
  if (items) return listOf(items);
  const named = [type ?? 'any'].flat().join(' | ');
  return [schema.format ? `${named} (${schema.format})` : named];
}

/** @param {Schema} items @returns {TypePart[]} */
const listOf = (items) =>
  optionsOf(items).length > 0 || items.enum
    ? ['(', ...typeOf(items), ')[]']
    : [...typeOf(items), '[]'];

/** @param {TypePart[][]} types @returns {TypePart[]} */
const between = (types) =>
  types.flatMap((parts, index) => (index === 0 ? parts : [' | ', ...parts]));

/** The rules of a schema and of its alternatives. @param {Schema} schema @returns {Words[]} */
function rulesOf(schema) {
  const keywords = /** @type {Readonly<Record<string, unknown>>} */ (schema);
  const own = Object.entries(RULES)
    .filter(([keyword]) => keywords[keyword] !== undefined)
    .map(([keyword, say]) => say(keywords[keyword]));
  return [...own, ...optionsOf(schema).flatMap(rulesOf)];
}
