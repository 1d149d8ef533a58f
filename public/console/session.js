/** Who asks: a client and its key, in this tab alone. Another tab, and this one once it is closed, have none. */
import { signal } from './lib/signals.js';
import { sayWith } from './speech.js';
import { WORDS } from './words.js';

/** @typedef {{ readonly clientId: string, readonly key: string }} Session */

const NAME = 'matter-push.session';

/** @type {import('./lib/signals.js').Signal<Session | undefined>} */
export const session = signal(undefined);

/** Why the last one ended: a reason of the service; undefined: it did not. */
export const endedBy = signal(/** @type {string | undefined} */ (undefined));

/** What its end broke off, for as long as nobody enters. */
export const endedWork = signal(
  /** @type {{ words: import('./speech.js').Words, counts: readonly number[] } | undefined} */ (
    undefined
  ),
);

let lifetime = new AbortController();

/** Of the session that there is now: aborted as soon as it ends, or another one begins. @returns {AbortSignal} */
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
  // The same link once more: whoever is at work goes on.
  if (given.clientId === clientId && given.key === key) return;
  inStore((store) => store.setItem(NAME, JSON.stringify(given)));
  change(given);
}

/** @param {string} [reason] */
export function end(reason) {
  inStore((store) => store.removeItem(NAME));
  change(undefined, reason);
}

/** As the page opens. Call it before anything else listens to the address: a key may come to stand in it. */
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

/** Characters of a client id in a question: that of a link may be a text of any length. */
const SHOWN_ID = 64;

/** @param {string} clientId of a link */
function mayReplace(clientId) {
  const current = session.peek()?.clientId;
  if (current === undefined || current === clientId) return true;
  return confirm(sayWith(WORDS.otherClient, idText(current), idText(clientId)));
}

/** @param {string} clientId what is no client id must not look like a part of the question */
const idText = (clientId) => clientId.slice(0, SHOWN_ID).replace(/[^\x21-\x7e]/g, '?');

/** @returns {Session | undefined} */
function kept() {
  const text = inStore((store) => store.getItem(NAME));
  try {
    const { clientId, key } = JSON.parse(text ?? '{}') ?? {};
    return typeof clientId === 'string' && typeof key === 'string' ? { clientId, key } : undefined;
  } catch {
    // Somebody else's text.
    return undefined;
  }
}

/**
 * A browser may forbid its store, or have no room in it: the session then ends with the page.
 *
 * @template T
 * @param {(store: Storage) => T} use
 * @returns {T | undefined}
 */
function inStore(use) {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}
