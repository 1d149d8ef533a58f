/** From zod schemas to schemas of OpenAPI 3.1, which are those of JSON Schema 2020-12. */
import { z } from 'zod';
import { type Bilingual, bilingual } from '../protocol/bilingual';
import { ABSENT_MEANS } from '../protocol/json-schema';
import { describeField } from './descriptions/fields';

export type Json = Readonly<Record<string, unknown>>;

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** What is sent: of a transform its beginning, of a default its absence. */
const OPTIONS = { io: 'input', target: 'draft-2020-12' } as const;

/** zod names itself and its schemas in keywords that an OpenAPI document has no need of. */
const DROPPED = ['$schema', '$id'];

/**
 * @param named schemas by name; where one of them stands within another, it is referred to
 * @param words what each is
 * @throws Error where a field has no words
 */
export function toJsonSchemas<Name extends string>(
  named: Readonly<Record<Name, z.ZodType>>,
  words: Readonly<Record<Name, Bilingual>>,
): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  const names = Object.keys(named) as Name[];
  for (const id of names) registry.add(named[id], { id });
  const { schemas } = z.toJSONSchema(registry, {
    ...OPTIONS,
    uri: (id) => schemaRef(id).$ref,
    override: ({ zodSchema, jsonSchema }) => {
      const element = elementOf(zodSchema);
      if (element) jsonSchema.items = z.toJSONSchema(element, OPTIONS);
    },
  });
  const entries = names.map((name) => [
    name,
    { description: bilingual(words[name]), ...describe(name, tidy(schemas[name]) as Json) },
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

/** Gives each field its words. */
function describe(name: string, schema: Json): Json {
  const { properties, items, anyOf } = schema as {
    properties?: Record<string, Json>;
    items?: Json;
    anyOf?: Json[];
  };
  const described = Object.entries(properties ?? {}).map(([field, value]) => [
    field,
    { description: value.description ?? describeField(name, field), ...describe(name, value) },
  ]);
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(described) }),
    ...(items && { items: describe(name, items) }),
    ...(anyOf && { anyOf: anyOf.map((option) => describe(name, option)) }),
  };
}
