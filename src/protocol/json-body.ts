/** Parses a body as a JSON object with a limited number of values and levels. */
import type { z } from 'zod';
import { MAX_PROBLEMS, type Problem, PushError, problem } from './errors';
import { localizedOf, TEXTS, unusedText } from './texts';

const BYTE_ORDER_MARK = '\ufeff';
// `ignoreBOM` keeps a leading byte order mark, so that `parse` can report the mark.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * @param outerLevels number of JSON levels around the push body. MAX_JSON_DEPTH does not count these levels.
 * @throws PushError INVALID_ENCODING, INVALID_JSON or VALIDATION_FAILED
 */
export function parseJsonBody(raw: Uint8Array, outerLevels = 0): JsonObject {
  const text = decode(raw);
  const excess = structureProblem(raw, outerLevels);
  if (excess) throw new PushError('VALIDATION_FAILED', { errors: [excess] });
  const body = parse(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new PushError('INVALID_JSON');
  }
  return body as JsonObject;
}

/** @param at path of the validated value in the body */
export function fieldErrors(
  { issues }: z.ZodError,
  max = Number.POSITIVE_INFINITY,
  at: readonly PropertyKey[] = [],
): Problem[] {
  const problems = issues.slice(0, max).flatMap((issue): Problem[] => {
    const path = [...at, ...issue.path];
    if (issue.code !== 'unrecognized_keys') {
      return [{ field: pathOf(path), ...localizedOf(issue.message) }];
    }
    return issue.keys
      .slice(0, MAX_PROBLEMS)
      .map((key) => problem(pathOf([...path, shownName(key)]), unusedText(true).unknown()));
  });
  return problems.slice(0, max);
}

const MAX_NAME_LENGTH = 64;

/** Matches half of a surrogate pair at the end of a cut name. Strict JSON parsers reject an incomplete pair. */
const HALF_AT_END = /[\uD800-\uDBFF]$/;

export const shownName = (name: string) =>
  name.length > MAX_NAME_LENGTH
    ? `${name.slice(0, MAX_NAME_LENGTH).replace(HALF_AT_END, '')}…`
    : name;

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

/** Maximum depth of a body (contract 4.11). */
export const MAX_JSON_DEPTH = 32;
/** Maximum number of objects and lists in a body. */
export const MAX_BRACKETS = 2_500;
/** Maximum number of commas in a body. The largest query (`matters/diff`) has about 5,000 commas. */
export const MAX_COMMAS = 10_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** Checks only MAX_JSON_DEPTH, MAX_BRACKETS and MAX_COMMAS; `raw` can be invalid JSON. */
export function structureProblem(
  raw: Uint8Array,
  outerLevels = 0,
  field = '(body)',
): Problem | undefined {
  let depth = 0;
  let brackets = 0;
  let commas = 0;
  for (let at = 0; at < raw.length; at += 1) {
    const byte = raw[at];
    if (byte === QUOTE) at = endOfString(raw, at);
    else if (byte === COMMA) {
      commas += 1;
      if (commas > MAX_COMMAS) return problem(field, TEXTS.tooManyCommas(MAX_COMMAS));
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      brackets += 1;
      if (depth > MAX_JSON_DEPTH + outerLevels) return problem(field, TEXTS.depth(MAX_JSON_DEPTH));
      if (brackets > MAX_BRACKETS) return problem(field, TEXTS.tooManyBrackets(MAX_BRACKETS));
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
  }
  return undefined;
}

/**
 * @param from position of the opening quote
 * @returns position of the closing quote; at least `raw.length` if there is no closing quote
 */
export function endOfString(raw: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < raw.length && raw[at] !== QUOTE) at += raw[at] === BACKSLASH ? 2 : 1;
  return at;
}
