/** From raw bytes to a JSON object: nothing is replaced, guessed or cut on the way. */
import type { z } from 'zod';
import { type Problem, PushError, problem } from './errors';
import { structureProblem } from './json-scan';
import { TEXTS } from './texts';
import { toldOf } from './zod-texts';

// ignoreBOM keeps a leading byte order mark in the text, where JSON.parse rejects it: it is named, never dropped.
const BYTE_ORDER_MARK = '\ufeff';
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * @param around levels around the push, which may be nested so much deeper
 * @throws PushError INVALID_ENCODING, INVALID_JSON, or VALIDATION_FAILED if it is nested too deeply or has too many
 *   values, whether they are read or not
 */
export function parseJsonBody(raw: Uint8Array, around = 0): JsonObject {
  const text = decode(raw);
  const tooMuch = structureProblem(raw, around);
  if (tooMuch) throw new PushError('VALIDATION_FAILED', { errors: [tooMuch] });
  const body = parse(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new PushError('INVALID_JSON');
  }
  return body as JsonObject;
}

/**
 * The errors of a failed validation, a line per field, in both languages.
 *
 * @param most of them, the first ones
 * @param at path of what was validated
 */
export function fieldErrors(
  { issues }: z.ZodError,
  most = issues.length,
  at: readonly PropertyKey[] = [],
): Problem[] {
  return issues
    .slice(0, most)
    .map((issue) => ({ field: pathOf([...at, ...issue.path]), ...toldOf(issue.message) }));
}

function pathOf(path: readonly PropertyKey[]): string {
  const joined = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`));
  return joined.join('').replace(/^\./, '') || '(body)';
}

function decode(raw: Uint8Array): string {
  try {
    return utf8.decode(raw);
  } catch (cause) {
    throw new PushError('INVALID_ENCODING', { cause });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const errors = text.startsWith(BYTE_ORDER_MARK) ? [problem('(body)', TEXTS.mark)] : undefined;
    throw new PushError('INVALID_JSON', { cause, ...(errors && { errors }) });
  }
}
