/**
 * Sets one field of a JSON text. All else in the text stays as it is, byte for byte: numbers of any length,
 * names that come twice, the order. Pure.
 */

/** @typedef {{ readonly text: string, readonly start: number, readonly end: number }} Token */
/** @typedef {{ readonly json: string } | 'remove'} Change what it is set to, as JSON */

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const SETTABLE = /^[A-Za-z_]\w*(\[\])?(\.[A-Za-z_]\w*(\[\])?)*$/;

/** Whether a field of a problem is one of the body, and not the body itself or a header. @param {string} field */
export const isSettable = (field) => SETTABLE.test(field);

/** The name of a field without the places in lists, as failures are grouped by. @param {string} place */
export const fieldOf = (place) => place.replace(/\[\d+\]/g, '[]');

/** @param {string} place `parties[3].username` @returns {(string | number)[]} */
const pathOf = (place) =>
  (place.match(/\[\d+\]|[^.[\]]+/g) ?? []).map((part) =>
    part.startsWith('[') ? Number(part.slice(1, -1)) : part,
  );

/**
 * @param {string} body valid JSON
 * @param {string} place of the field: `title`, `parties[3].username`
 * @param {Change} change
 * @returns {string} the same where there is no such place
 */
export function setField(body, place, change) {
  const tokens = tokensOf(body);
  const path = pathOf(place);
  const last = path.pop();
  const holder = path.reduce(
    (/** @type {number | undefined} */ at, step) =>
      at === undefined ? undefined : memberOf(tokens, at, step)?.value,
    0,
  );
  if (holder === undefined || last === undefined) return body;
  const member = memberOf(tokens, holder, last);
  if (member) return changed(body, tokens, member, change);
  if (change === 'remove' || typeof last === 'number') return body;
  return added(body, tokens, holder, `${JSON.stringify(last)}:${change.json}`);
}

/** @param {string} body @returns {Token[]} */
const tokensOf = (body) =>
  [...body.matchAll(TOKEN)].map(({ 0: text, index }) => ({
    ...{ text, start: index, end: index + text.length },
  }));

/**
 * Where a field stands, with its name; where there is none, what it would stand in.
 *
 * @param {string} body as somebody types it
 * @param {string} place
 * @returns {[start: number, end: number] | undefined} undefined: there is nothing of it
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

/** @param {string} body @param {readonly Token[]} tokens @param {Member} member @param {Change} change */
function changed(body, tokens, { first, value, after }, change) {
  const startAt = (/** @type {number} */ at) => tokens[at]?.start ?? body.length;
  const end = tokens[after - 1]?.end ?? body.length;
  if (change !== 'remove') return body.slice(0, startAt(value)) + change.json + body.slice(end);
  if (textAt(tokens, after) === ',')
    return body.slice(0, startAt(first)) + body.slice(startAt(after + 1));
  const isBehind = textAt(tokens, first - 1) === ',';
  return body.slice(0, startAt(isBehind ? first - 1 : first)) + body.slice(end);
}

/** @param {string} body @param {readonly Token[]} tokens @param {number} holder @param {string} member */
function added(body, tokens, holder, member) {
  const open = tokens[holder];
  if (open?.text !== '{') return body;
  const comma = textAt(tokens, holder + 1) === '}' ? '' : ',';
  return body.slice(0, open.end) + member + comma + body.slice(open.end);
}
