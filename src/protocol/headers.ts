/** The forms of the headers of a request (specification 5; decisions, "Authentication"), and headers of every answer. */

/** Unix time in seconds, as sent: it is part of what is signed. */
export const TIMESTAMP = /^\d{1,12}$/;
/** Seconds that it may be off in either direction (specification 5.2). */
export const TIMESTAMP_WINDOW = 300;
/** HMAC-SHA256 in hex, either case. */
export const SIGNATURE = /^[0-9a-fA-F]{64}$/;
/**
 * 1 to 255 printable characters (decisions, "Idempotency key"). Blanks at its ends are no part of a header, so a key
 * that had them in a line of a batch would be another one where its push comes alone.
 */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** An answer is for its caller only: no cache keeps it, and no browser takes it for another type than it is. */
export const API_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const;
