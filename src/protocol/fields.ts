/** Schemas of shared fields (contract 4.10, 4.11). `meta` repeats the refinements for the OpenAPI document. */
import { z } from 'zod';
import {
  CONTROLS,
  FORBIDDEN,
  hasControls,
  hasForbidden,
  isAcceptedUrl,
  isBlank,
  isJson,
  MAX_LENGTH,
  REJECTED_SCHEMES,
  STATUS,
  WITHOUT_HOST,
} from './field-rules';
import { TEXTS, zodMessage } from './texts';
import { FORMS, isDateDigits, isWritableInstant, parseDateTime, parseInstant } from './time';

/** @param forbidden the content of a character class in a regular expression */
const notBlank = (forbidden: string) => `^[^${forbidden}]*[^\\s${forbidden}][^${forbidden}]*$`;

/** @param max maximum length in UTF-16 units */
export const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => value.isWellFormed(), zodMessage(TEXTS.surrogates))
    // `abort` prevents a second error about the same characters.
    .refine((value) => !hasForbidden(value), {
      error: zodMessage(TEXTS.controls),
      abort: true,
    })
    .meta({ pattern: `^[^${FORBIDDEN}]*$` });

const key = (max: number) =>
  text(max)
    .refine((value) => !isBlank(value), zodMessage(TEXTS.blank))
    .refine((value) => !hasControls(value), zodMessage(TEXTS.controls))
    .meta({ minLength: 1, pattern: notBlank(CONTROLS) });

export const externalId = key(MAX_LENGTH.externalId);
export const username = key(MAX_LENGTH.username);
export const title = text(MAX_LENGTH.title)
  .refine((value) => !isBlank(value), zodMessage(TEXTS.blank))
  .meta({ minLength: 1, pattern: notBlank(FORBIDDEN) });

export const url = text(MAX_LENGTH.url)
  .refine(isAcceptedUrl, zodMessage(TEXTS.url))
  .meta({
    pattern: `^[^\\S${CONTROLS}]*[A-Za-z][A-Za-z0-9+.-]+:[^${CONTROLS}]*$`,
    not: {
      anyOf: [
        { pattern: `^\\s*(${REJECTED_SCHEMES.map(inAnyCase).join('|')}):` },
        { pattern: WITHOUT_HOST.source },
      ],
    },
  });

/** Matches a URL without a scheme, such as `host:8080/path`. */
const HOST_AND_PORT =
  /^\s*(?:localhost:\d{1,5}|[a-z0-9-]*\.[a-z0-9.-]*:\d{1,5}(?=$|[/?#])|[a-z0-9-]+:\d{1,5}(?=\/))/i;
export const looksLikeHost = (value: string): boolean => HOST_AND_PORT.test(value);

/** Patterns of JSON Schema have no flag to ignore case. */
function inAnyCase(scheme: string): string {
  return [...scheme].map((letter) => `[${letter}${letter.toUpperCase()}]`).join('');
}

/** `MAX_LENGTH.bizType` limits only the trimmed value. */
export const bizType = text(MAX_LENGTH.bizType * 4)
  .transform((value) => value.trim())
  .pipe(z.string().max(MAX_LENGTH.bizType))
  .meta({ maxLength: MAX_LENGTH.bizType });

export const searchWords = key(MAX_LENGTH.searchWords * 4)
  .transform((value) => value.trim())
  .pipe(z.string().max(MAX_LENGTH.searchWords))
  .meta({ maxLength: MAX_LENGTH.searchWords });

export const bizStatus = z
  .string()
  // `abort`: the pattern must not test very long values.
  .max(MAX_LENGTH.bizStatus, { abort: true })
  .regex(STATUS, zodMessage(TEXTS.status))
  .transform((value) => (value === '' ? undefined : value));

export const payloadJson = text(MAX_LENGTH.payloadJson)
  // Skips the slow `isJson` if the value is too long.
  .refine((value) => value.length > MAX_LENGTH.payloadJson || isJson(value), zodMessage(TEXTS.json))
  .meta({ contentMediaType: 'application/json' });

export const nullIsAbsent = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

/** An instant in any form of contract 4.6, converted to epoch milliseconds. */
export const anyInstant = (timeZone: string) =>
  z
    .union([z.string().meta(FORMS.instantText), z.number().meta(FORMS.instantNumber)], {
      error: zodMessage(TEXTS.instantType),
    })
    .transform((value, ctx) => {
      const parsed = parseInstant(value, timeZone);
      if (parsed !== undefined) return parsed;
      const text = isDateDigits(value) ? TEXTS.dateDigits(String(value)) : TEXTS.instant;
      ctx.issues.push({ code: 'custom', message: zodMessage(text), input: value });
      return z.NEVER;
    });

const DAY = 24 * 3_600_000;
/** Rejects a time more than one day ahead. A time far in the future makes all later pushes of the matter stale. */
export const pushedInstant = (timeZone: string, clock: () => number) =>
  anyInstant(timeZone).refine((value) => value <= clock() + DAY, zodMessage(TEXTS.tooFarAhead));

export const localDateTime = (timeZone: string) =>
  z
    .string()
    .meta(FORMS.dateTime)
    .transform((value, ctx) => {
      const parsed = parseDateTime(value, timeZone);
      if (parsed !== undefined && isWritableInstant(parsed, timeZone)) return parsed;
      const text = parsed === undefined ? TEXTS.dateTime : TEXTS.years;
      ctx.issues.push({ code: 'custom', message: zodMessage(text), input: value });
      return z.NEVER;
    });
