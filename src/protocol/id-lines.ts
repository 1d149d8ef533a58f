/**
 * A list of external ids as NDJSON, read while it arrives: each line a JSON string, or an object
 * with the field `externalId`. Only the ids are kept.
 */
import { z } from 'zod';
import { about } from './bilingual';
import { type Problem, PushError, problem } from './errors';
import { externalId } from './fields';
import { told } from './language';
import { MATTER } from './matter-texts';
import { TEXTS } from './texts';
import { inBoth, toldOf } from './zod-texts';

export const MAX_ID_LINES = 1_000_000;
/** Longest line, in characters: an id, or an object that has more fields than asked for. */
const MAX_LINE = 16_384;
/** Problems that are named. */
const MAX_PROBLEMS = 20;

/** What is wrong is told at the end only: until then nobody knows whether the caller may know it. */
export interface IdLines {
  take(chunk: Uint8Array): void;
  /**
   * @returns the different ids
   * @throws PushError INVALID_ENCODING, or VALIDATION_FAILED naming `(body)` or lines
   */
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
    // What follows changes nothing: a line that is no JSON takes many times as long as one that is.
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

/** Cuts UTF-8 into lines. After bytes that are no UTF-8 nothing is taken any more. */
function createLineSplitter(takeLine: (line: string) => void) {
  // A byte order mark at the start is dropped, as in a batch: other tools write it into lists.
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
    // One character more than allowed is enough to know that a line is too long.
    rest = waiting.slice(start, start + MAX_LINE + 1);
  };
  return {
    take: (chunk: Uint8Array) => take(decode(chunk)),
    /** @throws PushError INVALID_ENCODING */
    end: () => {
      take(decode());
      if (broken) throw broken;
      if (rest !== '') takeLine(rest);
    },
  };
}

/** What a line may be. Not parsed with: the check of a million takes long (see below). */
export const idLine = z
  .union([externalId, z.object({ externalId: externalId.meta(MATTER.externalId) })])
  .meta(about('One line of the list of ids', '业务主键列表的一行'));

type Line = { id: string; wrong?: never } | { id?: never; wrong: ReturnType<typeof told> };

function readLine(line: string): Line {
  if (line.length > MAX_LINE) return { wrong: told(TEXTS.longLine(MAX_LINE)) };
  const value = parse(line);
  if (value === undefined) return { wrong: told(TEXTS.lineNotJson) };
  const id = typeof value === 'object' && value !== null ? Reflect.get(value, FIELD) : value;
  if (typeof id === 'string' && isPlainId(id)) return { id };
  const parsed = externalId.safeParse(id, inBoth);
  return parsed.success
    ? { id: parsed.data }
    : { wrong: toldOf(parsed.error.issues[0]?.message ?? '') };
}

const FIELD = 'externalId';
/** Ids that are good at first sight, as nearly all are: the full check of a million takes long. */
const MAX_ID = 128;
const WITHOUT_CONTROLS = /^\P{Cc}+$/u;
const isPlainId = (id: string) =>
  id.length <= MAX_ID && WITHOUT_CONTROLS.test(id) && id.isWellFormed() && id.trim() !== '';

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // Not parsing is the answer itself; JSON has no undefined.
    return undefined;
  }
}
