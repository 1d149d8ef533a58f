/** The signed-in client and its key. They exist in this tab only, until it is closed. */
import { signal } from '@preact/signals';
import { sayWith } from '../kit/speech.js';
import { inStore } from '../kit/store.js';
import { WORDS } from '../kit/words.js';

/** @typedef {{ readonly clientId: string, readonly key: string }} Session */

const NAME = 'matter-push.session';
const sessionStore = () => sessionStorage;

/** @type {import('@preact/signals').Signal<Session | undefined>} */
export const session = signal(undefined);

/** The reason of the service that ended the last session; undefined: none did. */
export const endedBy = signal(/** @type {string | undefined} */ (undefined));

/** The work that the end of the session interrupted, until the next sign-in. */
export const endedWork = signal(
  /** @type {{ words: import('../kit/speech.js').Words, counts: readonly number[] } | undefined} */ (
    undefined
  ),
);

let lifetime = new AbortController();

/** Aborted when the current session ends or another one begins. @returns {AbortSignal} */
export function sessionSignal() {
  return lifetime.signal;
}

/** @param {Session | undefined} to @param {string} [reason] */
function change(to, reason) {
  lifetime.abort(new DOMException('Another session began', 'AbortError'));
  lifetime = new AbortController();
  endedBy.value = reason;
  endedWork.value = undefined;
  session.value = to;
}

/** @param {Session} given */
export function begin(given) {
  const { clientId, key } = session.peek() ?? {};
  // The same link again: the work of the user continues.
  if (given.clientId === clientId && given.key === key) return;
  inStore(sessionStore, (store) => store.setItem(NAME, JSON.stringify(given)));
  change(given);
}

/** @param {string} [reason] */
export function end(reason) {
  inStore(sessionStore, (store) => store.removeItem(NAME));
  change(undefined, reason);
}

/** Call it first when the page opens: the address may contain a key, which no other listener may see. */
export function openSession() {
  addEventListener('hashchange', ({ oldURL }) => takeLink(oldURL));
  session.value = kept();
  takeLink();
}

/**
 * A link of `matterctl client console` has client and key in its fragment, also where it is pasted into an open tab.
 * They are taken out of the address at once, and out of the history of the tab. A link of another client replaces a
 * session only if its user agrees: the link may come from someone who wants the user's data in another system.
 *
 * @param {string} [before] the address before the link, to which a user who stays returns
 */
function takeLink(before) {
  const given = new URLSearchParams(location.hash.replace(/^#/, ''));
  const [clientId, key] = [given.get('client'), given.get('key')];
  if (!clientId || !key) return;
  const cleaned = location.pathname + location.search;
  history.replaceState(null, '', cleaned);
  if (mayReplace(clientId)) begin({ clientId, key });
  else history.replaceState(null, '', before ?? cleaned);
}

/** Characters of a client id in the question to the user; a link can contain a text of any length. */
const SHOWN_ID = 64;

/** @param {string} clientId of a link */
function mayReplace(clientId) {
  const current = session.peek()?.clientId;
  if (current === undefined || current === clientId) return true;
  return confirm(sayWith(WORDS.otherClient, idText(current), idText(clientId)));
}

/** @param {string} clientId a text that is no client id must not look like a part of the question */
const idText = (clientId) => clientId.slice(0, SHOWN_ID).replace(/[^\x21-\x7e]/g, '?');

/** @returns {Session | undefined} */
function kept() {
  const text = inStore(sessionStore, (store) => store.getItem(NAME));
  try {
    const { clientId, key } = JSON.parse(text ?? '{}') ?? {};
    return typeof clientId === 'string' && typeof key === 'string' ? { clientId, key } : undefined;
  } catch {
    // Another program wrote this text.
    return undefined;
  }
}
