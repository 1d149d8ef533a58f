/**
 * Where somebody is: the screen and what it shows stand in the fragment of the address, so that a view
 * can be sent to a colleague and no server is told of it. The key never stands there.
 */
import { signal } from './lib/signals.js';

/** @typedef {Readonly<Record<string, string>>} Params */
/** @typedef {{ readonly screen: string, readonly params: Params }} Route */

/** What goes along from screen to screen. */
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

/** @type {import('./lib/signals.js').Signal<Route>} */
export const route = signal(parseRoute(''));

/** The address of another screen, with the range and the language of this one. @param {string} screen @param {Params} [params] */
export const hrefOf = (screen, params = {}) =>
  routeText({ screen, params: { ...commonOf(route.value.params), ...params } });

/** Goes there, as if a link were followed. @param {string} screen @param {Params} [params] */
export function go(screen, params = {}) {
  location.hash = hrefOf(screen, params);
}

/** The same in place of where one is: who goes back does not come here again. @param {string} screen @param {Params} params */
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
 * Asks before somebody leaves by whatever way: a link, the search, back, or by closing the tab.
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

/** Whether one may go elsewhere; somebody may be asked. @param {Route} [to] none: out of it all */
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
