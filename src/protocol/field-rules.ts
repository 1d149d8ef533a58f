/** The rules of single fields (contract 4.10, 4.11). This module must run in a browser. */

/** All control characters, as part of a regular expression. */
export const CONTROLS = String.raw`\u0000-\u001f\u007f-\u009f`;
/** The ASCII control characters except tab, line feed and carriage return. */
export const FORBIDDEN = String.raw`\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f`;
const ANY_CONTROL = new RegExp(`[${CONTROLS}]`);
const ANY_FORBIDDEN = new RegExp(`[${FORBIDDEN}]`);
/** Matches a scheme of at least two characters, because one letter, such as `C:`, is a Windows drive. */
const SCHEME = /^([a-z][a-z0-9+.-]+):/i;
/** Matches an http or https URL that has no host. */
export const WITHOUT_HOST =
  /^\s*[Hh][Tt][Tt][Pp][Ss]?:(?:$|[^/]|\/(?:$|[^/]|\/(?:[^/?#]*@)?(?::[^/?#@]*)?(?:$|[/?#\s])))/;
export const REJECTED_SCHEMES: readonly string[] = ['javascript', 'data', 'vbscript', 'file'];
/** Upper snake case, or empty (contract 4.2). */
export const STATUS = /^$|^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;

/** Maximum lengths in UTF-16 units. */
export const MAX_LENGTH = {
  externalId: 128,
  username: 64,
  title: 512,
  summary: 2_000,
  content: 65_536,
  url: 2_048,
  bizType: 64,
  bizStatus: 64,
  priority: 32,
  initiatorExtId: 128,
  externalStatusCode: 128,
  externalStatusLabel: 256,
  payloadJson: 65_536,
  searchWords: 100,
} as const;

export const hasControls = (value: string): boolean => ANY_CONTROL.test(value);
export const hasForbidden = (value: string): boolean => ANY_FORBIDDEN.test(value);
export const isBlank = (value: string): boolean => value.trim() === '';

export function isAcceptedUrl(value: string): boolean {
  if (hasControls(value)) return false;
  const scheme = SCHEME.exec(value.trim())?.[1]?.toLowerCase();
  const isAccepted = scheme !== undefined && !REJECTED_SCHEMES.includes(scheme);
  return isAccepted && !WITHOUT_HOST.test(value);
}

export function isJson(value: string): boolean {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

export const isNothing = (value: unknown): value is null | undefined =>
  value === null || value === undefined;

export type TextRule = (value: unknown) => value is string;

/** Free text: at most `max` UTF-16 units, no lone surrogate, no FORBIDDEN character. */
export const isText =
  (max: number): TextRule =>
  (value): value is string =>
    typeof value === 'string' &&
    value.length <= max &&
    value.isWellFormed() &&
    !hasForbidden(value);

const isKey =
  (max: number): TextRule =>
  (value): value is string =>
    isText(max)(value) && !isBlank(value) && !hasControls(value);

export const isExternalId = isKey(MAX_LENGTH.externalId);
export const isUsername = isKey(MAX_LENGTH.username);
export const isTitle: TextRule = (value): value is string =>
  isText(MAX_LENGTH.title)(value) && !isBlank(value);
export const isUrl: TextRule = (value): value is string =>
  isText(MAX_LENGTH.url)(value) && isAcceptedUrl(value);
export const isBizType: TextRule = (value): value is string =>
  isText(MAX_LENGTH.bizType * 4)(value) && value.trim().length <= MAX_LENGTH.bizType;
export const isStatus: TextRule = (value): value is string =>
  typeof value === 'string' && value.length <= MAX_LENGTH.bizStatus && STATUS.test(value);
export const isPayload: TextRule = (value): value is string =>
  isText(MAX_LENGTH.payloadJson)(value) && isJson(value);
