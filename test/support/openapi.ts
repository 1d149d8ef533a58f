/** The OpenAPI document as the tests read it. */
import { openApiDocument } from '../../src/openapi/document';
import { resolve, type Schema } from './json-schema';

export interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<
    Record<string, { readonly value?: unknown; readonly $ref?: string }>
  >;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly $ref: string }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, MediaType>>;
    readonly 'x-max-bytes': number;
  };
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
}

type Named = Readonly<Record<string, Schema>>;

export interface OpenApi {
  readonly info: { readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Named;
    readonly examples: Named;
    readonly parameters: Named;
    readonly headers: Named;
    readonly responses: Named;
  };
}

export const DOCUMENT = openApiDocument() as unknown as OpenApi;

export const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** The response itself where it is referred to. */
export function responseOf(operation: Operation, code: number | string): Response | undefined {
  const response = operation.responses[code];
  if (!response || !('$ref' in response)) return response;
  return resolve(DOCUMENT, response.$ref) as unknown as Response;
}

/** The values of the examples of a body. */
export function examplesOf(content: Readonly<Record<string, MediaType>> = {}) {
  return Object.values(content).flatMap(({ schema, examples = {} }) =>
    Object.values(examples).map(({ value, $ref }) => ({
      schema,
      value: $ref === undefined ? value : resolve(DOCUMENT, $ref).value,
    })),
  );
}

/** Every object of the document, with the keys that lead to it. */
export function* nodes(node: unknown, keys: readonly string[] = []): Generator<[string[], Schema]> {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) yield [[...keys], node as Schema];
  for (const [key, value] of Object.entries(node)) yield* nodes(value, [...keys, key]);
}
