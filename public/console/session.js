/** Who asks: a client and its key, in this tab alone. Another tab, and this one once it is closed, have none. */
import { signal } from './lib/signals.js';

/** @typedef {{ readonly clientId: string, readonly key: string }} Session */

const NAME = 'matter-push.session';

/** @type {import('./lib/signals.js').Signal<Session | undefined>} */
export const session = signal(undefined);

/** Why the last one ended: a reason of the service; undefined: it did not. */
export const endedBy = signal(/** @type {string | undefined} */ (undefined));

/** @param {Session} given */
export function begin(given) {
  sessionStorage.setItem(NAME, JSON.stringify(given));
  endedBy.value = undefined;
  session.value = given;
}

/** @param {string} [reason] */
export function end(reason) {
  sessionStorage.removeItem(NAME);
  endedBy.value = reason;
  session.value = undefined;
}

/**
 * A link of `matterctl client console` has client and key in its fragment. They are taken out of the address at
 * once, and out of the history of the tab; what else stands there stays.
 */
export function openSession() {
  const given = new URLSearchParams(location.hash.replace(/^#/, ''));
  const [clientId, key] = [given.get('client'), given.get('key')];
  if (clientId && key) {
    history.replaceState(null, '', location.pathname + location.search);
    begin({ clientId, key });
    return;
  }
  session.value = kept();
}

/** @returns {Session | undefined} */
function kept() {
  const text = sessionStorage.getItem(NAME);
  if (text === null) return undefined;
  const { clientId, key } = JSON.parse(text);
  return typeof clientId === 'string' && typeof key === 'string' ? { clientId, key } : undefined;
}
