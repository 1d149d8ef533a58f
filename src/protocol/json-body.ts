/** From raw bytes to a JSON object: nothing is replaced, guessed or cut on the way. */
import type { z } from 'zod';
import { type Problem, PushError, problem } from './errors';
import { TEXTS } from './texts';
import { toldOf } from './zod-texts';

/** Deepest nesting of a body (decisions, "Lengths"). */
export const MAX_JSON_DEPTH = 32;

// ignoreBOM keeps a leading BOM in the text, where JSON.parse rejects it: never silently dropped.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * @throws PushError INVALID_ENCODING, INVALID_JSON, or VALIDATION_FAILED where nested too deeply
 */
export function parseJsonBody(raw: Uint8Array): JsonObject {
  const body = parseJsonObject(raw);
  const errors = depthErrors(body);
  if (errors.length > 0) throw new PushError('VALIDATION_FAILED', { errors });
  return body;
}

/** The same of any depth. @throws PushError INVALID_ENCODING or INVALID_JSON */
export function parseJsonObject(raw: Uint8Array): JsonObject {
  const body = parse(decode(raw));
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new PushError('INVALID_JSON');
  }
  return body as JsonObject;
}

/** What is wrong where a body is nested too deeply. */
export function depthErrors(body: JsonObject): Problem[] {
  if (!isDeeperThan(body, MAX_JSON_DEPTH)) return [];
  return [problem('(body)', TEXTS.depth(MAX_JSON_DEPTH))];
}

/** The errors of a failed validation, a line per field, in both languages. @param most of them, the first ones */
export function fieldErrors({ issues }: z.ZodError, most = issues.length): Problem[] {
  return issues
    .slice(0, most)
    .map((issue) => ({ field: pathOf(issue.path), ...toldOf(issue.message) }));
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
    throw new PushError('INVALID_JSON', { cause });
  }
}

/** Iterative: a recursive walk would itself die on a hostile depth. */
function isDeeperThan(root: object, limit: number): boolean {
  let level: object[] = [root];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((node) => Object.values(node).filter(isObject));
  }
  return false;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
