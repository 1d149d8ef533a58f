/** The files that `npm run openapi` writes, by path. */
import { apiCollection } from './collection';
import { openApiDocument } from './document';
import type { JsonValue } from './json-schema';
import { jsonSchemaFiles } from './json-schema-files';

const toText = (value: JsonValue) => `${JSON.stringify(value, null, 2)}\n`;

export function publishedFiles(): ReadonlyMap<string, string> {
  const document = openApiDocument();
  const { schemas } = document.components as { schemas: Readonly<Record<string, JsonValue>> };
  const schemaFiles = Object.entries(jsonSchemaFiles(schemas));
  return new Map([
    ['docs/openapi.json', toText(document)],
    ...schemaFiles.map(([name, schema]) => [`docs/schemas/${name}`, toText(schema)] as const),
    ['examples/postman/matter-push.postman_collection.json', toText(apiCollection())],
  ]);
}
