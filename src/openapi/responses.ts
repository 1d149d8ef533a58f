/** Responses: one for success, and one for each code of the reasons that an operation may reject for. */

import { type Bilingual, bilingual } from '../protocol/bilingual';
import { successEnvelope } from '../protocol/envelope';
import type { Reason } from '../protocol/errors';
import type { AnswerName } from './answer-schemas';
import { MOMENT, REQUEST_ID } from './examples/moment';
import { headerRefs } from './headers';
import { type Json, schemaRef } from './json-schema';
import { REASON_DESCRIPTIONS } from './reason-descriptions';
import { rejection } from './reasons';

const RATE = ['RateLimit', 'RateLimit-Policy'];
/** Codes that may come after a client was admitted: its rate is known then. */
const ADMITTED = [400, 404, 429, 500, 503, 504];
const RETRY_LATER = [429, 503];

/** @param examples `data` of each, by name */
export function success(answer: AnswerName, examples: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(examples).map(([name, data]) => [
    name,
    { value: successEnvelope(data, REQUEST_ID, MOMENT) },
  ]);
  return {
    content: {
      'application/json': { schema: schemaRef(answer), examples: Object.fromEntries(entries) },
    },
  };
}

/** A response with the headers of an admitted request. */
export const admitted = (about: Bilingual, rest: Json, headers: readonly string[] = []) => ({
  description: bilingual(about),
  ...headerRefs(['Content-Language', ...headers, ...RATE]),
  ...rest,
});

/**
 * @param mayBeAdmitted whether the rate of a client may show
 * @returns responses by code
 */
export function rejections(reasons: readonly Reason[], mayBeAdmitted = true): Record<string, Json> {
  const byCode = new Map<number, Reason[]>();
  for (const reason of reasons) {
    const { code } = rejection(reason);
    byCode.set(code, [...(byCode.get(code) ?? []), reason]);
  }
  const entries = [...byCode].map(([code, those]) => [
    String(code),
    rejected(code, those, mayBeAdmitted),
  ]);
  return Object.fromEntries(entries);
}

function rejected(code: number, reasons: readonly Reason[], mayBeAdmitted: boolean): Json {
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

/** What no operation answers: there is none. */
export const elsewhere = (): Record<string, Json> => ({
  PathNotFound: rejected(404, ['PATH_NOT_FOUND'], false),
  MethodNotAllowed: { ...rejected(405, ['METHOD_NOT_ALLOWED'], false), ...headerRefs(['Allow']) },
});
