/** Checks and sends one push of the log with a fixed body. Its key makes a second attempt harmless. */
import { say, sayWith } from '../kit/speech.js';
import { send } from '../read/ask.js';
import { keyOf } from './fix-guard.js';
import { FAILURES } from './words.js';

/** @typedef {import('../read/shapes').Envelope} Envelope */

/**
 * Validates the push. Nothing is written.
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
 * @returns {Promise<Envelope>} the answer of the service
 */
export const sendPush = ({ operation, body, requestId, idempotencyKey }) =>
  // The service never repeats the result of a failure, so the push keeps the key of its first attempt.
  send(`matters/${operation}`, {
    body,
    headers: { 'X-Idempotency-Key': keyOf({ requestId, idempotencyKey }) },
  });

/** The body becomes a part of another JSON text, so it must be an object by itself. @param {string} body @returns {Envelope | undefined} */
function notObject(body) {
  let message = say(FAILURES.notObject);
  try {
    const value = JSON.parse(body);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined;
  } catch (error) {
    // Browsers name the line in an English sentence.
    const [, line] = /line (\d+)/.exec(String(error)) ?? [];
    if (line) message = sayWith(FAILURES.notJsonAt, line);
  }
  return { code: 400, message, reason: 'INVALID_JSON', data: null, requestId: '' };
}
