/** The headers of signed requests and of responses. */

import { IDEMPOTENCY_KEY, SIGNATURE, TIMESTAMP, TIMESTAMP_WINDOW } from '../protocol/headers';
import { type Bilingual, bilingual } from '../protocol/language';
import type { JsonValue } from './json-schema';

interface RequestHeader {
  readonly header: string;
  readonly description: Bilingual;
  readonly schema: JsonValue;
  readonly example: string;
}

const SIGNING: Readonly<Record<string, RequestHeader>> = {
  ClientId: {
    header: 'X-Client-Id',
    description: ['The client_id of the caller', '调用方的 client_id'],
    schema: { type: 'string', minLength: 1 },
    example: 'demo-oa',
  },
  Timestamp: {
    header: 'X-Timestamp',
    description: [
      `Unix time in seconds, at most ${TIMESTAMP_WINDOW} s from the time of the service; sign exactly the text that you send`,
      `Unix 秒级时间戳，前后最多相差 ${TIMESTAMP_WINDOW} 秒；签名使用原样字符串`,
    ],
    schema: { type: 'string', pattern: TIMESTAMP.source },
    example: '1717200000',
  },
  Signature: {
    header: 'X-Signature',
    description: [
      'HMAC-SHA256 in hex (upper or lower case). Key: the secret of the client. Text: client id, line feed, timestamp, line feed, and the exact bytes of the body',
      '以 client_secret 为密钥的 HMAC-SHA256，十六进制，不区分大小写；签名串为 clientId、换行、timestamp、换行、原始请求体字节',
    ],
    schema: { type: 'string', pattern: SIGNATURE.source },
    example: '2b0b992d360b22f5acb51d85bf995d83eb6b39144839f5fd3e90eb76c0ca5fa3',
  },
};

const IDEMPOTENCY: RequestHeader = {
  header: 'X-Idempotency-Key',
  description: [
    'Use a new key for each change, and the same key for each retry of the change. A retry within 24 hours with the same body returns the first outcome and is not applied again. The push log records the key.',
    '每次变更一个，重试时保持不变。24 小时内同一键、同一请求体的重试返回首次结果，不会重复生效。记录在推送日志中。',
  ],
  schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source },
  example: 'PR-2026-001/created',
};

const STRICT: RequestHeader = {
  header: 'X-Strict-Fields',
  description: [
    '`true`: a field that the operation does not use causes error 400. By default, the service ignores such a field with a warning. Use `true` in tests.',
    'true 表示拒绝（400）未知字段或该操作不使用的字段；否则忽略这些字段并逐个给出警告。供联调使用。',
  ],
  schema: { type: 'string', enum: ['true', 'false'] },
  example: 'true',
};

const LANGUAGE: RequestHeader = {
  header: 'Accept-Language',
  description: [
    '`en`: messages, errors, warnings and diagnoses are in English; default: Chinese',
    'en 表示以英文返回 message、errors、warnings 和 diagnosis；默认中文',
  ],
  schema: { type: 'string' },
  example: 'en',
};

/** A request needs all three headers of the signature. */
export const SECURITY = [Object.fromEntries(Object.keys(SIGNING).map((name) => [name, []]))];

export function securitySchemes(): Record<string, JsonValue> {
  const entries = Object.entries(SIGNING).map(([name, { header, description }]) => [
    name,
    { type: 'apiKey', in: 'header', name: header, description: bilingual(description) },
  ]);
  return Object.fromEntries(entries);
}

export function parameters(): Record<string, JsonValue> {
  const signing = Object.entries(SIGNING).map(([name, it]) => [name, parameter(it, true)]);
  return {
    ...Object.fromEntries(signing),
    IdempotencyKey: parameter(IDEMPOTENCY, false),
    StrictFields: parameter(STRICT, false),
    Language: parameter(LANGUAGE, false),
  };
}

const parameter = ({ header, description, schema, example }: RequestHeader, required: boolean) => ({
  name: header,
  in: 'header',
  required,
  description: bilingual(description),
  schema,
  example,
});

const parameterRef = (name: string) => ({ $ref: `#/components/parameters/${name}` });
export const SIGNED_PARAMETERS = [...Object.keys(SIGNING), 'Language'].map(parameterRef);
/** Parameters of the endpoints that accept an idempotency key (`isKeyed` in the endpoint table). */
export const KEYED_PARAMETERS = [
  ...SIGNED_PARAMETERS,
  parameterRef('IdempotencyKey'),
  parameterRef('StrictFields'),
];

const RESPONSE_HEADERS: Readonly<
  Record<string, { description: Bilingual; schema: JsonValue; required: boolean }>
> = {
  'Content-Language': {
    description: ['Language of the message: `zh-CN` or `en`', 'message 的语言：zh-CN 或 en'],
    schema: { type: 'string', enum: ['zh-CN', 'en'] },
    required: false,
  },
  'Retry-After': {
    description: ['Seconds to wait before a retry', '重试前应等待的秒数'],
    schema: { type: 'integer', minimum: 1 },
    required: true,
  },
  RateLimit: {
    description: [
      'Sent if the client or the query key has a rate limit. Example: `"client";r=399;t=1` permits 399 requests now. Each push of a batch counts as one request. The full limit is available after 1 second',
      '启用速率限制时返回："client";r=399;t=1，表示剩余额度和完全恢复所需的秒数',
    ],
    schema: { type: 'string' },
    required: false,
  },
  'RateLimit-Policy': {
    description: [
      'Sent if the client or the query key has a rate limit. Example: `"client";q=400;w=2` permits 400 requests at once. An unused limit is complete after 2 seconds',
      '启用速率限制时返回："client";q=400;w=2，表示时间窗内的总额度',
    ],
    schema: { type: 'string' },
    required: false,
  },
  'Idempotency-Replayed': {
    description: [
      'The push is a retry. The service did not apply the push again. The answer contains the first outcome',
      'true 表示本次是重试，返回首次结果，未重复生效',
    ],
    schema: { type: 'string', const: 'true' },
    required: false,
  },
  Allow: {
    description: ['The methods of the path', '该路径接受的请求方法'],
    schema: { type: 'string' },
    required: true,
  },
  ETag: {
    description: ['Changes whenever the document changes', '文档内容的标识'],
    schema: { type: 'string' },
    required: true,
  },
  'Cache-Control': {
    description: ['How long a cache may keep the answer', '可缓存的时间'],
    schema: { type: 'string' },
    required: true,
  },
};

export function responseHeaders(): Record<string, JsonValue> {
  const entries = Object.entries(RESPONSE_HEADERS).map(([name, { description, ...header }]) => [
    name,
    { description: bilingual(description), ...header },
  ]);
  return Object.fromEntries(entries);
}

export function headerRefs(names: readonly string[]): { headers?: JsonValue } {
  if (names.length === 0) return {};
  const entries = names.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return { headers: Object.fromEntries(entries) };
}
