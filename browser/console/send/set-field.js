/** Reads and sets one field of a JSON text. The rest of the text keeps its bytes: long numbers, repeated names, order. Pure. */

/** @typedef {{ readonly text: string, readonly start: number, readonly end: number }} Token */

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const SETTABLE = /^[A-Za-z_]\w*(\[\])?(\.[A-Za-z_]\w*(\[\])?)*$/;

/** Whether the field of a problem is a field of the body, not the body itself or a header. @param {string} field */
export const isSettable = (field) => SETTABLE.test(field);

/** Whether one value of the field may be set in many pushes. One id would make them pushes of one matter. @param {string} field */
export const isSettableForAll = (field) => isSettable(field) && field !== 'externalId';

/** The field without the positions in lists, as failures are grouped. @param {string} place */
export const fieldOf = (place) => place.replace(/\[\d+\]/g, '[]');

/** @param {string} place `parties[3].username` @returns {(string | number)[]} */
const pathOf = (place) =>
  (place.match(/\[\d+\]|[^.[\]]+/g) ?? []).map((part) =>
    part.startsWith('[') ? Number(part.slice(1, -1)) : part,
  );

/**
 * @param {string} body valid JSON
 * @param {string} place of the field: `title`, `parties[3].username`
 * @param {string} json the new value
 * @returns {string} the same text if there is no such place
 */
export function setField(body, place, json) {
  const tokens = tokensOf(body);
  const path = pathOf(place);
  const last = path.pop();
  const holder = holderOf(tokens, path);
  if (holder === undefined || last === undefined) return body;
  const member = memberOf(tokens, holder, last);
  if (member) {
    const [start, end] = spanOfValue(tokens, member);
    return body.slice(0, start) + json + body.slice(end);
  }
  return typeof last === 'number'
    ? body
    : added(body, tokens, holder, `${JSON.stringify(last)}:${json}`);
}

/** @param {string} body valid JSON @param {string} place @returns {string | undefined} the value as JSON text */
export function valueAt(body, place) {
  const tokens = tokensOf(body);
  const path = pathOf(place);
  const last = path.pop();
  const holder = holderOf(tokens, path);
  const member =
    last === undefined || holder === undefined ? undefined : memberOf(tokens, holder, last);
  return member && body.slice(...spanOfValue(tokens, member));
}

/** @param {readonly Token[]} tokens @param {readonly (string | number)[]} path @returns {number | undefined} place of its value */
const holderOf = (tokens, path) =>
  path.reduce(
    (/** @type {number | undefined} */ at, step) =>
      at === undefined ? undefined : memberOf(tokens, at, step)?.value,
    0,
  );

/** @param {readonly Token[]} tokens @param {Member} member @returns {[start: number, end: number]} */
const spanOfValue = (tokens, { value, after }) => [
  tokens[value]?.start ?? 0,
  tokens[after - 1]?.end ?? 0,
];

/** @param {string} body @returns {Token[]} */
const tokensOf = (body) =>
  [...body.matchAll(TOKEN)].map(({ 0: text, index }) => ({
    ...{ text, start: index, end: index + text.length },
  }));

/**
 * The span of a field with its name. If there is no such field, the span of the object that would contain it.
 *
 * @param {string} body may be invalid JSON
 * @param {string} place
 * @returns {[start: number, end: number] | undefined}
 */
export function spanOf(body, place) {
  try {
    JSON.parse(body);
  } catch {
    return undefined;
  }
  const tokens = tokensOf(body);
  /** @type {Member | undefined} */
  let deepest;
  for (const step of pathOf(place)) {
    const member = memberOf(tokens, deepest?.value ?? 0, step);
    if (!member) break;
    deepest = member;
  }
  if (!deepest) return undefined;
  return [tokens[deepest.first]?.start ?? 0, tokens[deepest.after - 1]?.end ?? body.length];
}

/** @typedef {{ first: number, value: number, after: number }} Member its first token, its value's, the one after it */

/** Of names that come twice the last one counts. @param {readonly Token[]} tokens @param {number} at @param {string | number} step @returns {Member | undefined} */
function memberOf(tokens, at, step) {
  const isObject = tokens[at]?.text === '{';
  if (!isObject && tokens[at]?.text !== '[') return undefined;
  let found;
  let place = 0;
  for (let first = at + 1; first < tokens.length && !/^[}\]]$/.test(textAt(tokens, first)); ) {
    const value = isObject ? first + 2 : first;
    const after = endOf(tokens, value);
    if ((isObject ? JSON.parse(textAt(tokens, first)) : place) === step) {
      found = { first, value, after };
    }
    place += 1;
    first = textAt(tokens, after) === ',' ? after + 1 : after;
  }
  return found;
}

/** @param {readonly Token[]} tokens @param {number} at */
const textAt = (tokens, at) => tokens[at]?.text ?? '';

/** The token after the value that begins there. @param {readonly Token[]} tokens @param {number} value */
function endOf(tokens, value) {
  let depth = 0;
  for (let at = value; at < tokens.length; at += 1) {
    const text = textAt(tokens, at);
    if (text === '{' || text === '[') depth += 1;
    if (text === '}' || text === ']') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return tokens.length;
}

/** @param {string} body @param {readonly Token[]} tokens @param {number} holder @param {string} member */
function added(body, tokens, holder, member) {
  const open = tokens[holder];
  if (open?.text !== '{') return body;
  const comma = textAt(tokens, holder + 1) === '}' ? '' : ',';
  return body.slice(0, open.end) + member + comma + body.slice(open.end);
}
