/** Generates the OpenAPI operations of the signed endpoints from the endpoint table. */

import { partialEnvelope } from '../protocol/batch';
import { ENDPOINTS, type Endpoint } from '../protocol/endpoints';
import type { Reason } from '../protocol/errors';
import { PARTIAL_ANSWER } from '../protocol/examples/pushes';
import { EXAMPLE_REQUEST_ID, EXAMPLE_TIME } from '../protocol/examples/request';
import { type Bilingual, bilingual, bilingualTitle } from '../protocol/language';
import { KEYED_PARAMETERS, SECURITY, SIGNED_PARAMETERS } from './headers';
import { type JsonValue, schemaRef } from './json-schema';
import { admitted, rejections, success } from './responses';

/** The rejection reasons that all signed endpoints share. */
const REJECTIONS: readonly Reason[] = [
  'HEADERS_TOO_LARGE',
  'MALFORMED_REQUEST',
  'BODY_INCOMPLETE',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_ENCODING',
  'REQUEST_TIMEOUT',
  'HMAC_HEADERS_MISSING',
  'TIMESTAMP_OUT_OF_WINDOW',
  'SIGNATURE_MISMATCH',
  'SIGNATURE_REUSED',
  'NO_USABLE_SECRET',
  'CLIENT_DISABLED',
  'NO_SYSTEM_CODE',
  'RATE_LIMITED',
  'INVALID_ENCODING',
  'VALIDATION_FAILED',
  'INTERNAL_ERROR',
  'SHUTTING_DOWN',
  'DATABASE_UNAVAILABLE',
  'DATABASE_NOT_PREPARED',
  'QUEUE_UNAVAILABLE',
  'QUEUE_MEMORY_FULL',
  'TOO_MANY_IN_FLIGHT',
  'IN_FLIGHT_BYTES_FULL',
];

export const signedPaths = (): Record<string, JsonValue> =>
  Object.fromEntries(ENDPOINTS.map((endpoint) => [endpoint.path, operationOf(endpoint)]));

const operationOf = ({ document, isKeyed, body, answer }: Endpoint): JsonValue => ({
  post: {
    operationId: document.id,
    tags: [document.tag],
    summary: bilingualTitle(document.title),
    description: bilingual(document.description),
    security: SECURITY,
    parameters: isKeyed ? KEYED_PARAMETERS : SIGNED_PARAMETERS,
    requestBody: bodyOf(body),
    responses: {
      200: successOf(answer),
      ...partialOf(answer),
      ...rejectionsOf(document.rejections),
    },
  },
});

function bodyOf({ schema, lines, mayBeArray, limit, examples }: Endpoint['body']): JsonValue {
  const { bytes, setting } = limit;
  const size = bytes < 2 ** 20 ? `${bytes / 1024} KiB` : `${bytes / 2 ** 20} MiB`;
  const description: Bilingual = setting
    ? [
        `At most ${size} by default; the setting ${setting} changes this limit`,
        `最多 ${size}，可由 ${setting} 调整`,
      ]
    : [`At most ${size}`, `最多 ${size}`];
  const jsonOf = (jsonSchema: JsonValue) => ({
    'application/json': { schema: jsonSchema, examples: exampleValues(examples, toJson) },
  });
  const content = lines
    ? {
        ...linesOf(lines, schemaRef(schema), examples),
        ...(mayBeArray && jsonOf({ type: 'array', minItems: 1, items: schemaRef(schema) })),
      }
    : jsonOf(schemaRef(schema));
  return { description: bilingual(description), required: true, content, 'x-max-bytes': bytes };
}

function successOf({ description, schema, examples, headers }: Endpoint['answer']) {
  if (typeof schema === 'string') return admitted(description, success(schema, examples), headers);
  return admitted(description, {
    content: linesOf(description, { oneOf: schema.map(schemaRef) }, examples),
  });
}

/** The 207 response to a dry run (`final`) has no Retry-After header. */
function partialOf({ partial }: Endpoint['answer']): Record<number, JsonValue> {
  if (!partial) return {};
  const value = partialEnvelope(PARTIAL_ANSWER, false, EXAMPLE_REQUEST_ID, EXAMPLE_TIME, 'zh');
  const response = admitted(partial.description, {
    content: {
      'application/json': { schema: schemaRef('PartialAnswer'), examples: { partial: { value } } },
    },
  });
  if (partial.kind === 'final') return { 207: response };
  return { 207: { ...response, headers: { ...response.headers, 'Retry-After': RETRY_AFTER } } };
}

const RETRY_AFTER = {
  description: bilingual([
    'The longest Retry-After of the failed lines, in seconds; absent if no line requires a wait',
    '各行 Retry-After 中的最大值（秒）；没有可重试的行时不返回',
  ]),
  schema: { type: 'integer', minimum: 1 },
};

const NDJSON = 'application/x-ndjson';

/** OpenAPI 3.1 cannot describe NDJSON. Therefore, the schema is a string. */
const linesOf = (
  description: Bilingual,
  line: JsonValue,
  examples: Endpoint['body']['examples'],
) => ({
  [NDJSON]: {
    schema: {
      type: 'string',
      description: bilingual(description),
      contentMediaType: NDJSON,
      contentSchema: { type: 'array', items: line },
    },
    examples: exampleValues(examples, toLines),
  },
});

const toJson = (value: unknown) => value;
export const toLines = (lines: unknown) =>
  (lines as readonly unknown[]).map((line) => `${JSON.stringify(line)}\n`).join('');

const exampleValues = (
  examples: Readonly<Record<string, unknown>>,
  write: (example: unknown) => unknown,
): JsonValue =>
  Object.fromEntries(
    Object.entries(examples).map(([name, example]) => [name, { value: write(example) }]),
  );

const sharedName = (code: string) => `Rejected${code}`;

export function sharedRejections(): Record<string, JsonValue> {
  const entries = Object.entries(rejections(REJECTIONS));
  return Object.fromEntries(entries.map(([code, response]) => [sharedName(code), response]));
}

/** @param own the reasons of this operation in addition to REJECTIONS */
function rejectionsOf(own: readonly Reason[]): Record<string, JsonValue> {
  const usual = Object.keys(rejections(REJECTIONS)).map((code) => [
    code,
    { $ref: `#/components/responses/${sharedName(code)}` },
  ]);
  const added = Object.keys(rejections(own));
  const all = Object.entries(rejections([...REJECTIONS, ...own]));
  const special = all.filter(([code]) => added.includes(code));
  return { ...Object.fromEntries(usual), ...Object.fromEntries(special) };
}
