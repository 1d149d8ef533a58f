/** What a field must be like (src/protocol/fields.ts): the same rules, so that a bad line is told before anything is asked. Pure. */

/** @param {string} characters */
const anyOf = (characters) => new RegExp(`[${characters}]`);

/** All control characters: never meant in a key or an address. */
const CONTROLS = anyOf(String.raw`\u0000-\u001f\u007f-\u009f`);
/** Those that are never meant in a text. */
const FORBIDDEN = anyOf(String.raw`\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f`);
/** Half of a character that takes two units: it cannot be stored. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const SCHEME = /^([a-z][a-z0-9+.-]+):/i;
const WITHOUT_HOST =
  /^\s*https?:(?:$|[^/]|\/(?:$|[^/]|\/(?:[^/?#]*@)?(?::[^/?#@]*)?(?:$|[/?#\s])))/i;
const REJECTED_SCHEMES = ['javascript', 'data', 'vbscript', 'file'];
const STATUS = /^$|^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;

/** @typedef {(value: unknown) => boolean} Rule */

/** @param {number} max UTF-16 units @returns {(value: unknown) => value is string} */
export const isText = (max) => {
  /** @param {unknown} value @returns {value is string} */
  const check = (value) =>
    typeof value === 'string' &&
    value.length <= max &&
    !LONE_SURROGATE.test(value) &&
    !FORBIDDEN.test(value);
  return check;
};

/** @param {number} max @returns {(value: unknown) => value is string} */
export const isKey = (max) => {
  /** @param {unknown} value @returns {value is string} */
  const check = (value) => isText(max)(value) && value.trim() !== '' && !CONTROLS.test(value);
  return check;
};

export const isExternalId = isKey(128);
export const isUsername = isKey(64);

/** @type {Rule} */
export const isTitle = (value) => isText(512)(value) && value.trim() !== '';

/** @type {Rule} */
export const isUrl = (value) => {
  if (!isText(2048)(value) || CONTROLS.test(value)) return false;
  const scheme = SCHEME.exec(value.trim())?.[1]?.toLowerCase();
  return scheme !== undefined && !REJECTED_SCHEMES.includes(scheme) && !WITHOUT_HOST.test(value);
};

/** @type {Rule} */
export const isBizType = (value) => isText(256)(value) && value.trim().length <= 64;

/** @param {unknown} value @returns {value is string} */
export const isStatus = (value) =>
  typeof value === 'string' && value.length <= 64 && STATUS.test(value);

/** @type {Rule} */
export const isPayload = (value) => {
  if (!isText(65_536)(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    // Not parsing is the answer itself.
    return false;
  }
};

/** @param {unknown} value @returns {value is null | undefined} */
export const isNothing = (value) => value === null || value === undefined;
