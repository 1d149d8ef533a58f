/** Makes the JSON Schema files in docs/schemas, for editors and validators. */
import { bilingual } from '../protocol/language';
import { type JsonValue, schemaRef } from './json-schema';

type Schemas = Readonly<Record<string, JsonValue>>;

const ref = (name: string): JsonValue => schemaRef(name);

/** A `PartialAnswer` whose `data` is the data of a batch. */
const PARTIAL_BATCH = {
  allOf: [ref('PartialAnswer'), { properties: { data: ref('BatchData') } }],
};

/** The published schemas. Each key is a file name without `.schema.json`. */
const PUBLISHED: Schemas = {
  'push-line': {
    title: 'Push line',
    description: bilingual([
      'One line of a push file or of a batch. Fields that are not listed here are ignored with a warning.',
      '推送文件或批次中的一行。未列出的字段会被忽略，并返回警告。',
    ]),
    ...ref('BatchLine'),
  },
  'batch-answer': {
    title: 'Batch answer',
    description: bilingual([
      'The answer to a batch: every line succeeded (0), some lines failed (207), or the batch was rejected as a whole.',
      '批次的响应：全部写入（0）、部分行失败（207），或整个批次被拒绝。',
    ]),
    anyOf: [ref('BatchAnswer'), PARTIAL_BATCH, ref('ErrorAnswer')],
  },
  matter: {
    title: 'Matter',
    description: bilingual([
      'A matter as the queries return it. Newer versions may add fields.',
      '查询返回的事项。新版本可能增加字段。',
    ]),
    ...ref('Matter'),
  },
};

/**
 * @param components the schemas of the OpenAPI document
 * @returns JSON Schemas (2020-12) by file name
 */
export function jsonSchemaFiles(components: Schemas): Schemas {
  const files = Object.entries(PUBLISHED).map(([name, schema]) => {
    const definitions = [...reached(schema, components)].map((used) => [
      used,
      withLocalRefs(components[used]),
    ]);
    const file = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `urn:matter-push:${name}`,
      ...(withLocalRefs(schema) as JsonValue),
      $defs: Object.fromEntries(definitions),
    };
    return [`${name}.schema.json`, file];
  });
  return Object.fromEntries(files);
}

const PREFIX = schemaRef('').$ref;

/** @returns the names of all schemas that `schema` needs */
function reached(schema: unknown, components: Schemas, found = new Set<string>()): Set<string> {
  for (const [keyword, value] of Object.entries(schema ?? {})) {
    if (keyword === '$ref') {
      const name = String(value).slice(PREFIX.length);
      if (found.has(name)) continue;
      found.add(name);
      reached(components[name], components, found);
    } else if (typeof value === 'object') reached(value, components, found);
  }
  return found;
}

function withLocalRefs(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withLocalRefs);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([keyword, value]) => [
    keyword,
    keyword === '$ref' ? String(value).replace(PREFIX, '#/$defs/') : withLocalRefs(value),
  ]);
  return Object.fromEntries(entries);
}
