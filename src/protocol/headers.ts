/** The forms of the headers of a request (specification 5; decisions, "Authentication"). */

/** Unix time in seconds, as sent: it is part of what is signed. */
export const TIMESTAMP = /^\d{1,12}$/;
/** Seconds that it may be off in either direction (specification 5.2). */
export const TIMESTAMP_WINDOW = 300;
/** HMAC-SHA256 in hex, either case. */
export const SIGNATURE = /^[0-9a-fA-F]{64}$/;
/** 1 to 255 printable characters (decisions, "Idempotency key"). */
export const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;
