/** What the signed operations have in common. */

import { type Bilingual, bilingual, bilingualTitle } from '../../protocol/bilingual';
import type { Reason } from '../../protocol/errors';
import { SECURITY } from '../headers';
import type { Json } from '../json-schema';
import { rejections } from '../responses';

/** What any signed request may be rejected for, in the order of the checks. */
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

export interface SignedOperation {
  readonly id: string;
  readonly tag: 'push' | 'query';
  readonly title: Bilingual;
  readonly about: Bilingual;
  readonly parameters: readonly Json[];
  readonly requestBody: Json;
  /** The response of 200. */
  readonly success: Json;
  /** Besides those of every signed request. */
  readonly rejections: readonly Reason[];
  /** By code, what is neither. */
  readonly more?: Readonly<Record<number, Json>>;
}

export const signedOperation = (it: SignedOperation): Json => ({
  post: {
    operationId: it.id,
    tags: [it.tag],
    summary: bilingualTitle(it.title),
    description: bilingual(it.about),
    security: SECURITY,
    parameters: it.parameters,
    requestBody: it.requestBody,
    responses: { 200: it.success, ...it.more, ...rejectionsOf(it.rejections) },
  },
});

const usualName = (code: string) => `Rejected${code}`;

/** For `components`: what most operations share. */
export function usualRejections(): Record<string, Json> {
  const entries = Object.entries(rejections(REJECTIONS));
  return Object.fromEntries(entries.map(([code, response]) => [usualName(code), response]));
}

/** A code to which the operation adds nothing has the usual response. */
function rejectionsOf(own: readonly Reason[]): Record<string, Json> {
  const usual = Object.keys(rejections(REJECTIONS)).map((code) => [
    code,
    { $ref: `#/components/responses/${usualName(code)}` },
  ]);
  const added = Object.keys(rejections(own));
  const all = Object.entries(rejections([...REJECTIONS, ...own]));
  const special = all.filter(([code]) => added.includes(code));
  return { ...Object.fromEntries(usual), ...Object.fromEntries(special) };
}

/** Default of BODY_LIMIT, bytes. */
export const BODY_LIMIT = 1024 * 1024;

/** @param maxBytes largest body; `setting`: unless this one says otherwise */
export function bodyOf(content: Json, maxBytes: number, setting?: string): Json {
  const size = maxBytes < 2 ** 20 ? `${maxBytes / 1024} KiB` : `${maxBytes / 2 ** 20} MiB`;
  const about: Bilingual = setting
    ? [`At most ${size}, unless ${setting} says otherwise`, `最多 ${size}，可由 ${setting} 调整`]
    : [`At most ${size}`, `最多 ${size}`];
  return { description: bilingual(about), required: true, content, 'x-max-bytes': maxBytes };
}
