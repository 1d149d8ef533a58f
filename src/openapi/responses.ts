/** Builds the responses in the OpenAPI document: successes, and rejections grouped by code. */

import { successEnvelope } from '../protocol/envelope';
import type { Reason } from '../protocol/errors';
import { EXAMPLE_REQUEST_ID, EXAMPLE_TIME } from '../protocol/examples/request';
import { type Bilingual, bilingual } from '../protocol/language';
import { headerRefs } from './headers';
import { type JsonValue, schemaRef } from './json-schema';
import { REASON_DESCRIPTIONS } from './reason-descriptions';
import { rejection } from './reasons';

const RATE = ['RateLimit', 'RateLimit-Policy'];
/** Codes of rejections that can have the RateLimit headers. */
const ADMITTED = [400, 404, 429, 500, 503, 504];
const RETRY_LATER = [429, 503];

export function success(answer: string, examples: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(examples).map(([name, data]) => [
    name,
    { value: successEnvelope(data, EXAMPLE_REQUEST_ID, EXAMPLE_TIME) },
  ]);
  return {
    content: {
      'application/json': { schema: schemaRef(answer), examples: Object.fromEntries(entries) },
    },
  };
}

/** Builds a response that can have the RateLimit headers. */
export const admitted = (
  description: Bilingual,
  rest: JsonValue,
  headers: readonly string[] = [],
) => ({
  description: bilingual(description),
  ...headerRefs(['Content-Language', ...headers, ...RATE]),
  ...rest,
});

/** @param mayBeAdmitted whether the responses can have the RateLimit headers */
export function rejections(
  reasons: readonly Reason[],
  mayBeAdmitted = true,
): Record<string, JsonValue> {
  const byCode = new Map<number, Reason[]>();
  for (const reason of reasons) {
    const { code } = rejection(reason);
    byCode.set(code, [...(byCode.get(code) ?? []), reason]);
  }
  const entries = [...byCode].map(([code, reasonsOfCode]) => [
    String(code),
    rejected(code, reasonsOfCode, mayBeAdmitted),
  ]);
  return Object.fromEntries(entries);
}

function rejected(code: number, reasons: readonly Reason[], mayBeAdmitted: boolean): JsonValue {
  const headers = [
    'Content-Language',
    ...(RETRY_LATER.includes(code) ? ['Retry-After'] : []),
    ...(mayBeAdmitted && ADMITTED.includes(code) ? RATE : []),
  ];
  const lines = reasons.map((reason) => {
    const [english, chinese] = REASON_DESCRIPTIONS[reason];
    return `- \`${reason}\` ${rejection(reason).message}\n  ${english}\n  ${chinese}`;
  });
  const examples = reasons.map((reason) => [reason, { $ref: `#/components/examples/${reason}` }]);
  return {
    description: lines.join('\n'),
    ...headerRefs(headers),
    content: {
      'application/json': {
        schema: schemaRef('ErrorAnswer'),
        examples: Object.fromEntries(examples),
      },
    },
  };
}

export const unmatchedResponses = (): Record<string, JsonValue> => ({
  PathNotFound: rejected(404, ['PATH_NOT_FOUND'], false),
  MethodNotAllowed: { ...rejected(405, ['METHOD_NOT_ALLOWED'], false), ...headerRefs(['Allow']) },
});
