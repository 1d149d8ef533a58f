/** Sends a push of the log again: the same bytes, or mended ones, under a key that makes a second try harmless. */
import { send } from './ask.js';
import { keyOf } from './mend-guard.js';

/** @typedef {import('./shapes').Envelope} Envelope */

/**
 * Would it pass? Nothing is written.
 *
 * @param {string} operation
 * @param {string} body as it would be sent
 * @returns {Promise<Envelope>}
 */
export function verify(operation, body) {
  const problem = notObject(body);
  if (problem) return Promise.resolve(problem);
  return send('verify', { body: `{"operation":${JSON.stringify(operation)},"push":${body}}` });
}

/**
 * @param {{ operation: string, body: string, requestId: string, idempotencyKey: string | null }} push
 * @returns {Promise<Envelope>} what the service says to it
 */
export const sendPush = ({ operation, body, requestId, idempotencyKey }) =>
  // Failures are never answered from the log, so the key of the first try is the right one where it had one.
  send(`matters/${operation}`, {
    body,
    headers: { 'X-Idempotency-Key': keyOf({ requestId, idempotencyKey }) },
  });

/** What stands inside of another body must be whole by itself. @param {string} body @returns {Envelope | undefined} */
function notObject(body) {
  let message = 'JSON: { … }';
  try {
    const value = JSON.parse(body);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined;
  } catch (error) {
    message = String(/** @type {Error} */ (error).message);
  }
  return { code: 400, message, reason: 'INVALID_JSON', data: null, requestId: '' };
}
