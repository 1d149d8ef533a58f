/** From zod schemas to schemas of OpenAPI 3.1, which are those of JSON Schema 2020-12. */
import { z } from 'zod';
import { ABSENT_MEANS } from '../protocol/json-schema';

export type Json = Readonly<Record<string, unknown>>;

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** What is sent: of a transform its beginning, of a default its absence. */
const OPTIONS = { io: 'input', target: 'draft-2020-12' } as const;

/** zod names itself and its schemas in keywords that an OpenAPI document has no need of. */
const DROPPED = ['$schema', '$id'];

/**
 * @param named schemas by name; where one of them stands within another, it is referred to
 * @throws Error where one of them, or a field, is not described
 */
export function toJsonSchemas<Name extends string>(
  named: Readonly<Record<Name, z.ZodType>>,
): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  const names = Object.keys(named) as Name[];
  for (const id of names) registry.add(named[id], { id });
  const { schemas } = z.toJSONSchema(registry, {
    ...OPTIONS,
    uri: (id) => schemaRef(id).$ref,
    override: ({ zodSchema, jsonSchema }) => {
      const element = elementOf(zodSchema);
      if (!element) return;
      const name = registry.get(element)?.id;
      jsonSchema.items = name === undefined ? z.toJSONSchema(element, OPTIONS) : schemaRef(name);
    },
  });
  const entries = names.map((name) => [
    name,
    described(name, tidy(schemas[name]) as Json, schemas),
  ]);
  return Object.fromEntries(entries);
}

/** Of a list whose length is looked at before its elements: zod takes its first half for all of it. */
function elementOf(schema: unknown): z.core.$ZodType | undefined {
  if (!(schema instanceof z.ZodPipe && schema.out instanceof z.ZodArray)) return undefined;
  return schema.out.element;
}

function tidy(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(tidy);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node)
    .filter(([keyword]) => !DROPPED.includes(keyword))
    .map(([keyword, value]) => [
      keyword === ABSENT_MEANS ? 'default' : keyword,
      keyword === 'anyOf' ? flat(value) : tidy(value),
    ]);
  return Object.fromEntries(entries);
}

/** A choice within a choice is one. */
function flat(options: readonly unknown[]): unknown[] {
  return options.map(tidy).flatMap((option) => {
    const { anyOf, ...rest } = option as { anyOf?: unknown[] };
    return anyOf && Object.keys(rest).length === 0 ? anyOf : [option];
  });
}

type Schemas = Readonly<Record<string, { readonly description?: string }>>;

/**
 * @param all a reference that says nothing of its own means what its schema does
 * @throws Error where it, or a field within it, has no description: no document with holes is written
 */
function described(path: string, schema: Json, all: Schemas): Json {
  const { description = all[referredTo(schema)]?.description, ...rest } = schema;
  if (!description) throw new Error(`nothing is said about ${path}: its schema has no "about"`);
  return { description, ...withDescribedFields(path, rest, all) };
}

const referredTo = ({ $ref }: Json) => String($ref).slice(schemaRef('').$ref.length);

function withDescribedFields(path: string, schema: Json, all: Schemas): Json {
  const { properties, items, anyOf } = schema as {
    properties?: Record<string, Json>;
    items?: Json;
    anyOf?: Json[];
  };
  const fields = Object.entries(properties ?? {}).map(([field, value]) => [
    field,
    described(`${path}.${field}`, value, all),
  ]);
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(fields) }),
    ...(items && { items: withDescribedFields(path, items, all) }),
    ...(anyOf && { anyOf: anyOf.map((option) => withDescribedFields(path, option, all)) }),
  };
}
