/** Pausing and resuming. The token and the operator's name stay in this tab. */
import { signal } from '@preact/signals';
import { lookNow } from './look.js';

const TIMEOUT = 12_000;

/** @param {string} name */
const kept = (name) => {
  const value = signal(sessionStorage.getItem(`operator.${name}`) ?? '');
  value.subscribe((text) => sessionStorage.setItem(`operator.${name}`, text));
  return value;
};

export const token = kept('token');
export const operator = kept('name');

/** The client that somebody is about to change; undefined: none. @type {import('@preact/signals').Signal<string | undefined>} */
export const asked = signal(undefined);

/** @typedef {{ readonly reason: string, readonly message: string }} Refusal */

/**
 * @param {'pause' | 'resume'} what
 * @param {string} clientId
 * @param {string} reason
 * @returns {Promise<Refusal | undefined>} why it was not done
 */
export async function change(what, clientId, reason) {
  try {
    const answer = await fetch(`operator/${what}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token.value}` },
      body: JSON.stringify({ clientId, operator: operator.value, reason }),
      signal: AbortSignal.timeout(TIMEOUT),
    });
    if (!answer.ok) return await answer.json();
    await lookNow();
    return undefined;
  } catch (error) {
    return { reason: 'NO_ANSWER', message: String(error) };
  }
}
