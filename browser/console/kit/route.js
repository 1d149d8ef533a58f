/**
 * The screen and its parameters are in the fragment of the address: the user can send a view to a colleague, and no
 * server receives it. The key is never in it.
 */
import { signal } from '@preact/signals';

/** @typedef {Readonly<Record<string, string>>} Params */
/** @typedef {{ readonly screen: string, readonly params: Params }} Route */

/** The parameters that links to other screens keep. */
const COMMON = ['range', 'from', 'to', 'lang'];

/** @param {string} fragment with or without its mark @returns {Route} */
export function parseRoute(fragment) {
  const text = fragment.replace(/^#?\/?/, '');
  const [screen = '', query = ''] = text.split('?');
  return {
    screen: /^[a-z-]+$/.test(screen) ? screen : '',
    params: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** @param {Route} to */
export function routeText({ screen, params }) {
  const set = Object.entries(params).filter(([, value]) => value !== '');
  const query = String(new URLSearchParams(set));
  return `#/${screen}${query === '' ? '' : `?${query}`}`;
}

/** @param {Params} params */
const commonOf = (params) =>
  Object.fromEntries(Object.entries(params).filter(([name]) => COMMON.includes(name)));

/** @type {import('@preact/signals').Signal<Route>} */
export const route = signal(parseRoute(''));

/** The address of another screen, with the range and the language of this one. @param {string} screen @param {Params} [params] */
export const hrefOf = (screen, params = {}) =>
  routeText({ screen, params: { ...commonOf(route.value.params), ...params } });

/** Goes to a screen, as a link does. @param {string} screen @param {Params} [params] */
export function go(screen, params = {}) {
  location.hash = hrefOf(screen, params);
}

/** Goes to a screen and replaces the current entry of the history. @param {string} screen @param {Params} params */
export function goInstead(screen, params) {
  location.replace(hrefOf(screen, params));
}

/** Changes what this screen shows; empty values are left out. @param {Params} changes */
export function show(changes) {
  const { screen, params } = route.value;
  location.hash = routeText({ screen, params: { ...params, ...changes } });
}

/** @typedef {(to: Route) => boolean} MayLeave */
/** @type {MayLeave | undefined} */
let mayLeave;

/**
 * Asks before the user leaves the screen: by a link, the search, the back button, or by closing the tab.
 *
 * @param {MayLeave} check
 * @returns {() => void} ends it
 */
export function holdRoute(check) {
  const hold = (/** @type {Event} */ event) => event.preventDefault();
  mayLeave = check;
  addEventListener('beforeunload', hold);
  return () => {
    mayLeave = undefined;
    removeEventListener('beforeunload', hold);
  };
}

/** Whether the user may leave the screen; the check may ask the user. @param {Route} [to] undefined: the user signs out */
export const isFree = (to = parseRoute('')) => !mayLeave || mayLeave(to);

/** Follows the address from now on. */
export function followAddress() {
  const read = () => {
    const to = parseRoute(location.hash);
    if (isFree(to)) route.value = to;
    else history.pushState(null, '', routeText(route.value));
  };
  addEventListener('hashchange', read);
  read();
}
