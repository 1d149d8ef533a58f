/** The findings of a diagnosis. Pure. */

/** @typedef {{ cause: string, explanation: string, fix: string, difference?: { offset: number, sent: string, signed: string } }} Finding */

/** The reasons of a 401 for which the service makes a diagnosis. */
export const DIAGNOSED = ['SIGNATURE_MISMATCH', 'TIMESTAMP_OUT_OF_WINDOW'];

/**
 * @param {string} text the answer of push-logs/query
 * @returns {readonly Finding[] | string | undefined} the reason of a rejection as a text; undefined where
 *   there is no such entry, or none whose signature was rejected
 */
export function findingsOf(text) {
  try {
    const { code, reason, data } = JSON.parse(text);
    if (code !== 0) return String(reason ?? code);
    return data?.entries?.[0]?.diagnosis?.findings;
  } catch {
    // A proxy answered instead of the service.
    return text.slice(0, 80);
  }
}
