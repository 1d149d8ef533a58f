/** Checks and sends one push of the log with a fixed body. Its key makes a second attempt harmless. */
import { say, sayWith } from '../kit/speech.js';
import { send } from '../read/ask.js';
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
 * @param {{ operation: string, body: string, key: string }} push `key`: that of its first attempt, because the service
 *   never repeats the result of a failure
 * @returns {Promise<Envelope>} the answer of the service
 */
export const sendPush = ({ operation, body, key }) =>
  send(`matters/${operation}`, { body, headers: { 'X-Idempotency-Key': key } });

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
