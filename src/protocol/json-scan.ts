/**
 * Bounds the structure of JSON before it is parsed. `JSON.parse` and every step after it take time for each value: a
 * body of 1 MiB may have half a million lists in it. No body of the contract has more than some thousand values; the
 * bounds leave room for fields that are not read.
 */
import { type Problem, problem } from './errors';
import { TEXTS } from './texts';

/** Deepest nesting of a body (decisions, "Lengths"). */
export const MAX_JSON_DEPTH = 32;
/** Objects and lists. The legal body that has most of them is a push with 500 parties and 500 removed parties: 1,003. */
export const MAX_BRACKETS = 2_500;
/** The legal body that has most of them is a comparison of 1,000 rows with 5 fields: 5,000. */
export const MAX_COMMAS = 10_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/**
 * Looks at each byte once. Whether it is JSON at all is not its business.
 *
 * @param raw UTF-8, in which no byte of another character equals one of the characters that are looked for
 * @param around levels around the push, which may be nested so much deeper
 * @param field what is looked at, in the problem
 * @returns what is wrong, with the first bound that is exceeded
 */
export function structureProblem(
  raw: Uint8Array,
  around = 0,
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
      if (depth > MAX_JSON_DEPTH + around) return problem(field, TEXTS.depth(MAX_JSON_DEPTH));
      if (brackets > MAX_BRACKETS) return problem(field, TEXTS.tooManyBrackets(MAX_BRACKETS));
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
  }
  return undefined;
}

/** @param from where its opening quote is @returns where its closing one is, or the end */
function endOfString(raw: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < raw.length && raw[at] !== QUOTE) at += raw[at] === BACKSLASH ? 2 : 1;
  return at;
}
