/**
 * The rules of single fields, shared by the requests (specification 2.1; decisions, "Lengths"). What
 * a refinement or a transform asks for is said once more in `meta`, in words of JSON Schema: that is
 * what the OpenAPI document tells. It may ask for more than the refinement, never for less where
 * JSON Schema can say it.
 */
import { z } from 'zod';
import { TEXTS } from './texts';
import { FORMS, isDateDigits, isWritable, parseDateTime, parseInstant } from './time';
import { saying } from './zod-texts';

/** All control characters: never meant in a key or a URL. */
const CONTROLS = String.raw`\u0000-\u001f\u007f-\u009f`;
const TEXT_CONTROLS = new RegExp(`[${CONTROLS}]`);
/** Control characters other than tab, line feed and carriage return: never meant in a text. */
const FORBIDDEN = String.raw`\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f`;
const FORBIDDEN_IN_TEXT = new RegExp(`[${FORBIDDEN}]`);
/** A scheme of one letter is a drive: `C:\share`. */
const SCHEME = /^([a-z][a-z0-9+.-]+):/i;
/** Of http and https, where a user or a port may stand beside the host; schemes of apps need no host. */
const WITHOUT_HOST =
  /^\s*[Hh][Tt][Tt][Pp][Ss]?:(?:$|[^/]|\/(?:$|[^/]|\/(?:[^/?#]*@)?(?::[^/?#@]*)?(?:$|[/?#\s])))/;
const REJECTED_SCHEMES = new Set(['javascript', 'data', 'vbscript', 'file']);

/** Where something is not blank, and none of its characters is one of a class. */
const notBlank = (none: string) => `^[^${none}]*[^\\s${none}][^${none}]*$`;

/** Free text of at most `max` UTF-16 units that can be stored as it is (no lone surrogate, no NUL). */
export const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => value.isWellFormed(), saying(TEXTS.surrogates))
    // The last word about a character: what else a field says of control characters says the same.
    .refine((value) => !FORBIDDEN_IN_TEXT.test(value), {
      error: saying(TEXTS.controls),
      abort: true,
    })
    .meta({ pattern: `^[^${FORBIDDEN}]*$` });

/** A key: non-blank, one line. */
const key = (max: number) =>
  text(max)
    .refine((value) => value.trim() !== '', saying(TEXTS.blank))
    .refine((value) => !TEXT_CONTROLS.test(value), saying(TEXTS.controls))
    .meta({ minLength: 1, pattern: notBlank(CONTROLS) });

export const externalId = key(128);
export const username = key(64);
export const title = text(512)
  .refine((value) => value.trim() !== '', saying(TEXTS.blank))
  .meta({ minLength: 1, pattern: notBlank(FORBIDDEN) });

export const url = text(2048)
  .refine((value) => {
    if (TEXT_CONTROLS.test(value)) return false;
    const scheme = SCHEME.exec(value.trim())?.[1]?.toLowerCase();
    const isAccepted = scheme !== undefined && !REJECTED_SCHEMES.has(scheme);
    return isAccepted && !WITHOUT_HOST.test(value);
  }, saying(TEXTS.url))
  .meta({
    pattern: `^[^\\S${CONTROLS}]*[A-Za-z][A-Za-z0-9+.-]+:[^${CONTROLS}]*$`,
    not: {
      anyOf: [
        { pattern: `^\\s*(${[...REJECTED_SCHEMES].map(inAnyCase).join('|')}):` },
        { pattern: WITHOUT_HOST.source },
      ],
    },
  });

/** A "scheme" that is the name of a host in front of its port: the scheme was forgotten. */
const HOST_AND_PORT =
  /^\s*(?:localhost:\d{1,5}|[a-z0-9-]*\.[a-z0-9.-]*:\d{1,5}(?=$|[/?#])|[a-z0-9-]+:\d{1,5}(?=\/))/i;
export const looksLikeHost = (value: string): boolean => HOST_AND_PORT.test(value);

/** Patterns of JSON Schema have no flags. */
function inAnyCase(scheme: string): string {
  return [...scheme].map((letter) => `[${letter}${letter.toUpperCase()}]`).join('');
}

/** Its length is that without spaces around it; who sends them may send some more. */
export const bizType = text(64 * 4)
  .transform((value) => value.trim())
  .pipe(z.string().max(64))
  .meta({ maxLength: 64 });

/** An upper snake case status; empty means "not sent" (4.2). */
export const bizStatus = z
  .string()
  // What is too long is not matched: it may be as long as the whole body.
  .max(64, { abort: true })
  .regex(/^$|^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/, saying(TEXTS.status))
  .transform((value) => (value === '' ? undefined : value));

const MAX_PAYLOAD = 65_536;
export const payloadJson = text(MAX_PAYLOAD)
  // One that is too long is not parsed: it may be as long as the whole body, and consist of brackets.
  .refine((value) => value.length > MAX_PAYLOAD || isJson(value), saying(TEXTS.json))
  .meta({ contentMediaType: 'application/json' });

/** `null` says the same as leaving the field out. */
export const nullIsAbsent = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

/** Epoch milliseconds from any of the forms of decisions, "sourceUpdatedAt formats". */
export const anyInstant = (timeZone: string) =>
  z
    .union([z.string().meta(FORMS.instantText), z.number().meta(FORMS.instantNumber)], {
      error: saying(TEXTS.instantType),
    })
    .transform((value, ctx) => {
      const parsed = parseInstant(value, timeZone);
      if (parsed !== undefined) return parsed;
      const text = isDateDigits(value) ? TEXTS.dateDigits(String(value)) : TEXTS.instant;
      ctx.issues.push({ code: 'custom', message: saying(text), input: value });
      return z.NEVER;
    });

/** The same where it is pushed: one that lies far ahead would freeze its matter. */
const DAY = 24 * 3_600_000;
export const instant = (timeZone: string, clock: () => number) =>
  anyInstant(timeZone).refine((value) => value <= clock() + DAY, saying(TEXTS.tooFarAhead));

export const localDateTime = (timeZone: string) =>
  z
    .string()
    .meta(FORMS.dateTime)
    .transform((value, ctx) => {
      const parsed = parseDateTime(value, timeZone);
      if (parsed !== undefined && isWritable(parsed, timeZone)) return parsed;
      const text = parsed === undefined ? TEXTS.dateTime : TEXTS.years;
      ctx.issues.push({ code: 'custom', message: saying(text), input: value });
      return z.NEVER;
    });

function isJson(value: string): boolean {
  try {
    JSON.parse(value);
    return true;
  } catch {
    // Not parsing is the answer itself; the caller is told by the refinement's message.
    return false;
  }
}
