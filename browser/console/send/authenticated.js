/** Whether a client signed a push of the log: only such a push may be sent in its name. Pure. */
import { REASONS } from '../read/reasons.js';

/** Reasons with code 401 or 403. */
const NOT_ALLOWED = [
  ...['HMAC_HEADERS_MISSING', 'TIMESTAMP_OUT_OF_WINDOW', 'SIGNATURE_MISMATCH', 'SIGNATURE_REUSED'],
  ...['NO_USABLE_SECRET', 'CLIENT_DISABLED', 'NO_SYSTEM_CODE', 'SCOPE_NOT_ALLOWED'],
];

/**
 * The rule of `push-logs/resend`. A reason of a newer version may concern the signature.
 *
 * @param {Pick<import('../read/shapes').Entry, 'secretId' | 'resentFrom' | 'state' | 'reason'>} entry
 */
export function isAuthenticated({ secretId, resentFrom, state, reason }) {
  if (secretId === null && resentFrom === null) return false;
  if (state !== 'REFUSED') return true;
  return reason !== null && Object.hasOwn(REASONS, reason) && !NOT_ALLOWED.includes(reason);
}
