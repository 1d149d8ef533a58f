/** The contents beside the page: search, sections, and operations by purpose. */
import { endpointsOf } from './api.js';
import { markCurrent } from './current.js';
import { element } from './dom.js';
import { searchBox } from './search-box.js';
import { say } from './speech.js';
import { pairOf, titleOf } from './text.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').Api} Api */
/** @typedef {import('./shapes').Words} Words */
/** @typedef {import('./search.js').Titled} Titled */

/** The width below which the contents are above the page, as in main.css. */
const NARROW = '(max-width: 48rem)';

/**
 * @param {Api} api
 * @param {readonly Titled[]} sections
 * @returns {{ node: HTMLElement, begin(): void }} begin() is called after the page is complete
 */
export function contents(api, sections) {
  const items = sections.flatMap(({ id, title }) => [
    link(id, title, ...(id === 'operations' ? groups(api) : [])),
  ]);
  const list = element('ul', {}, ...items);
  const summary = element('summary', { id: 'contents' }, say(WORDS.contents));
  const box = element('details', {}, summary, list);
  foldWhereNarrow(box, list);
  const node = element(
    'nav',
    { 'aria-labelledby': 'contents' },
    ...searchBox(api, sections, box),
    box,
  );
  return { node, begin: () => markCurrent(list) };
}

/** @param {HTMLDetailsElement} box @param {HTMLElement} list */
function foldWhereNarrow(box, list) {
  const narrow = matchMedia(NARROW);
  const fold = () => {
    box.open = !narrow.matches;
  };
  narrow.addEventListener('change', fold);
  list.addEventListener('click', fold);
  fold();
}

/** @param {Api} api @returns {HTMLElement[]} */
const groups = (api) =>
  api.tags.map(({ name, description }) =>
    element(
      'div',
      {},
      element('span', { class: 'group' }, say(pairOf(description))),
      element('ul', {}, ...operationLinks(api, name)),
    ),
  );

/** @param {Api} api @param {string} tag */
const operationLinks = (api, tag) =>
  endpointsOf(api)
    .filter(({ operation }) => operation.tags.includes(tag))
    .map(({ operation }) => link(operation.operationId, titleOf(operation.summary)));

/** @param {string} id @param {Words} title @param {...Node} below */
const link = (id, title, ...below) =>
  element('li', {}, element('a', { href: `#${id}` }, say(title)), ...below);
