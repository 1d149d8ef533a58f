/** Converts zod schemas to the schemas of OpenAPI 3.1, which are JSON Schema 2020-12. */
import { z } from 'zod';
import { ABSENT_MEANS } from '../protocol/schema-rules';

export type JsonValue = Readonly<Record<string, unknown>>;

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** `input`: the schemas describe the JSON that zod reads. */
const OPTIONS = { io: 'input', target: 'draft-2020-12' } as const;

const DROPPED = ['$schema', '$id'];

/**
 * If a schema contains another schema of `named`, the result has a reference (`$ref`) to the other schema.
 *
 * @throws Error if a schema or a field has no description
 */
export function toJsonSchemas<Name extends string>(
  named: Readonly<Record<Name, z.ZodType>>,
): Record<string, JsonValue> {
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
    withDescription(name, cleanKeywords(schemas[name]) as JsonValue, schemas),
  ]);
  return Object.fromEntries(entries);
}

/** Finds the element schema of a list that `bounded` (`protocol/query-body.ts`) creates. zod omits this schema. */
function elementOf(schema: unknown): z.core.$ZodType | undefined {
  if (!(schema instanceof z.ZodPipe && schema.out instanceof z.ZodArray)) return undefined;
  return schema.out.element;
}

function cleanKeywords(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(cleanKeywords);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node)
    .filter(([keyword]) => !DROPPED.includes(keyword))
    .map(([keyword, value]) => [
      keyword === ABSENT_MEANS ? 'default' : keyword,
      keyword === 'anyOf' ? flattenChoices(value) : cleanKeywords(value),
    ]);
  return Object.fromEntries(entries);
}

function flattenChoices(options: readonly unknown[]): unknown[] {
  return options.map(cleanKeywords).flatMap((option) => {
    const { anyOf, ...rest } = option as { anyOf?: unknown[] };
    return anyOf && Object.keys(rest).length === 0 ? anyOf : [option];
  });
}

type Schemas = Readonly<Record<string, { readonly description?: string }>>;

/**
 * A reference without a description gets the description of the referenced schema.
 *
 * @throws Error if the schema or one of its fields has no description
 */
function withDescription(path: string, schema: JsonValue, all: Schemas): JsonValue {
  const { description = all[referredTo(schema)]?.description, ...rest } = schema;
  if (!description) throw new Error(`the schema of ${path} has no description`);
  return { description, ...withDescribedFields(path, rest, all) };
}

const referredTo = ({ $ref }: JsonValue) => String($ref).slice(schemaRef('').$ref.length);

function withDescribedFields(path: string, schema: JsonValue, all: Schemas): JsonValue {
  const { properties, items, anyOf } = schema as {
    properties?: Record<string, JsonValue>;
    items?: JsonValue;
    anyOf?: JsonValue[];
  };
  const fields = Object.entries(properties ?? {}).map(([field, value]) => [
    field,
    withDescription(`${path}.${field}`, value, all),
  ]);
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(fields) }),
    ...(items && { items: withDescribedFields(path, items, all) }),
    ...(anyOf && { anyOf: anyOf.map((option) => withDescribedFields(path, option, all)) }),
  };
}
