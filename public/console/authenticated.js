/** Who wrote a push of the log? Only what the client signed, for this very operation, may be sent in its name. Pure. */
import { REASONS } from './reasons.js';

/** Those that are answered with 401 or 403. */
const NOT_ALLOWED = [
  ...['HMAC_HEADERS_MISSING', 'TIMESTAMP_OUT_OF_WINDOW', 'SIGNATURE_MISMATCH', 'SIGNATURE_REUSED'],
  ...['NO_USABLE_SECRET', 'CLIENT_DISABLED', 'NO_SYSTEM_CODE', 'SCOPE_NOT_ALLOWED'],
];

/**
 * By the rule of `matterctl log resend`: a signature that nobody looked at is not known to be right; a resend of the
 * operator has none. A reason that a newer service gives may be about the signature.
 *
 * @param {Pick<import('./shapes').Entry, 'secretId' | 'resentFrom' | 'state' | 'reason'>} entry
 */
export function isAuthenticated({ secretId, resentFrom, state, reason }) {
  if (secretId === null && resentFrom === null) return false;
  if (state !== 'REFUSED') return true;
  return reason !== null && Object.hasOwn(REASONS, reason) && !NOT_ALLOWED.includes(reason);
}
