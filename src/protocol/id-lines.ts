/** Parses a list of external ids (NDJSON) while the list arrives. */
import { z } from 'zod';
import { MAX_PROBLEMS, type Problem, PushError, problem } from './errors';
import { MAX_LENGTH } from './field-rules';
import { externalId } from './fields';
import { describe, localized } from './language';
import { MATTER } from './matter-view';
import { bilingualErrors, localizedOf, TEXTS } from './texts';

export const MAX_ID_LINES = 1_000_000;
/** Maximum characters of a line. */
const MAX_LINE_LENGTH = 16_384;

/** `take` keeps errors for `end`, because the service verifies the signature only after the last chunk. */
export interface IdLines {
  take(chunk: Uint8Array): void;
  /** @throws PushError INVALID_ENCODING or VALIDATION_FAILED */
  end(): ReadonlySet<string>;
}

export function createIdLines(maxLines = MAX_ID_LINES): IdLines {
  const ids = new Set<string>();
  const problems: Problem[] = [];
  let tooMany = false;
  let number = 0;
  let listed = 0;
  const lines = createLineSplitter((line) => {
    number += 1;
    if (tooMany || line.trim() === '') return;
    listed += 1;
    tooMany = listed > maxLines;
    if (tooMany) ids.clear();
    if (tooMany || problems.length === MAX_PROBLEMS) return;
    const { id, wrong } = readLine(line);
    if (id !== undefined) ids.add(id);
    else problems.push({ field: `line ${number}`, ...wrong });
  });
  return {
    take: lines.take,
    end: () => {
      lines.end();
      const whole = problem('(body)', TEXTS.tooManyLines(maxLines));
      const errors = tooMany ? [whole] : problems;
      if (errors.length > 0) throw new PushError('VALIDATION_FAILED', { errors });
      return ids;
    },
  };
}

/** `end` throws a PushError if the list is not valid UTF-8. */
function createLineSplitter(takeLine: (line: string) => void) {
  // The decoder drops a byte order mark at the start of the list.
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  let broken: PushError | undefined;
  let rest = '';
  const decode = (chunk?: Uint8Array): string => {
    try {
      return broken ? '' : utf8.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      broken = new PushError('INVALID_ENCODING', { cause });
      return '';
    }
  };
  const take = (text: string) => {
    const waiting = rest + text;
    let start = 0;
    for (let end = waiting.indexOf('\n'); end !== -1; end = waiting.indexOf('\n', start)) {
      takeLine(waiting.slice(start, end));
      start = end + 1;
    }
    // Cuts a long line to limit the memory. The extra character makes `readLine` reject the line.
    rest = waiting.slice(start, start + MAX_LINE_LENGTH + 1);
  };
  return {
    take: (chunk: Uint8Array) => take(decode(chunk)),
    end: () => {
      take(decode());
      if (broken) throw broken;
      if (rest !== '') takeLine(rest);
    },
  };
}

/** This schema is only for the OpenAPI document; `readLine` parses the lines. */
export const idLine = z
  .union([externalId, z.object({ externalId: externalId.meta(MATTER.externalId) })])
  .meta(describe('One line of the list of ids', '业务主键列表的一行'));

type Line = { id: string; wrong?: never } | { id?: never; wrong: ReturnType<typeof localized> };

function readLine(line: string): Line {
  if (line.length > MAX_LINE_LENGTH) return { wrong: localized(TEXTS.longLine(MAX_LINE_LENGTH)) };
  const value = parse(line);
  if (value === undefined) return { wrong: localized(TEXTS.lineNotJson) };
  const id = typeof value === 'object' && value !== null ? Reflect.get(value, FIELD) : value;
  if (typeof id === 'string' && isPlainId(id)) return { id };
  const parsed = externalId.safeParse(id, bilingualErrors);
  return parsed.success
    ? { id: parsed.data }
    : { wrong: localizedOf(parsed.error.issues[0]?.message ?? '') };
}

const FIELD = 'externalId';
const WITHOUT_CONTROLS = /^\P{Cc}+$/u;
/** A fast check that accepts nearly all valid ids. The schema `externalId` is too slow for a million ids. */
const isPlainId = (id: string) =>
  id.length <= MAX_LENGTH.externalId &&
  WITHOUT_CONTROLS.test(id) &&
  id.isWellFormed() &&
  id.trim() !== '';

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Maximum bytes of a query body with a list of ids, names or rows. */
export const LARGE_QUERY_LIMIT = 1024 * 1024;
/** Maximum bytes of the body of `matters/orphans`. */
export const ID_LIST_LIMIT = 64 * 1024 * 1024;
