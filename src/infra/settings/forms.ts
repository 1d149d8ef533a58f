/** The types of settings: each type checks the text of a variable and converts the text. */
import { z } from 'zod';

export const wholeNumberSetting = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max));
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
);

/** Converts a duration such as `10s`, `5m`, `24h` or `30d` to milliseconds. The default unit is ms. */
export const durationSetting = (minMs: number, maxMs: number) =>
  z
    .string()
    .regex(
      /^\d+(ms|s|m|h|d)?$/,
      'must be a number with or without ms, s, m, h or d, for example 10s',
    )
    .transform((value) => Number.parseInt(value, 10) * unitOf(value.replace(/\d/g, '')))
    .pipe(
      z
        .number()
        .min(minMs, `must be at least ${minMs} ms`)
        .max(maxMs, `must be at most ${maxMs} ms`),
    );

export const durationOrOffSetting = (minMs: number, maxMs: number) =>
  z.string().transform((value, ctx) => {
    if (value === 'off') return value;
    const parsed = durationSetting(minMs, maxMs).safeParse(value);
    if (parsed.success) return parsed.data;
    for (const { message } of parsed.error.issues) ctx.addIssue(`${message}, or off`);
    return z.NEVER;
  });

/** `bizStatus` values that conclude a matter. */
export const statuses = list.pipe(
  z
    .array(
      z.string().regex(/^(?!DRAFT$)[A-Z][A-Z0-9_]{0,63}$/, 'must be upper snake case, not DRAFT'),
    )
    .min(1, 'must name at least one status'),
);

export const timeZone = z
  .string()
  .refine(isTimeZone, 'must be an IANA time zone, for example Asia/Shanghai');

/** Keys of 32 bytes in the form `id:base64,id:base64`. */
export const secretKeys = list.pipe(
  z
    .array(z.string().regex(/^[\w-]{1,32}:[A-Za-z0-9+/]{43}=$/, 'must be id:base64 of 32 bytes'))
    .min(1, 'must name at least one key, as id:base64 of 32 bytes')
    .refine(
      (keys) => new Set(keys.map((key) => key.split(':')[0])).size === keys.length,
      'must not name an id twice',
    ),
);

/** A URL without user, query and fragment. */
export const plainUrl = z.string().refine(isPlainUrl, 'must be http(s)://host/path');

function unitOf(unit: string): number {
  return { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit] ?? 1;
}

function isPlainUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && !/[?#@]/.test(value);
}

function isTimeZone(value: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch {
    return false;
  }
}
