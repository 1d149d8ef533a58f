/** The search: a field in the contents, and the results below it. */
import { element } from './dom.js';
import { entriesOf, find, MOST_FOUND } from './search.js';
import { say } from './speech.js';
import { foundCount, WORDS } from './words.js';

/** @typedef {import('./search.js').Entry} Entry */

/** Elements in which a typed character does not start the search. */
const TYPED_IN = 'input, textarea, select';

/**
 * @param {import('./shapes').Api} api
 * @param {readonly import('./search.js').Titled[]} sections
 * @param {HTMLElement} contents hidden while something is looked for
 * @returns {Node[]} the field, and the list
 */
export function searchBox(api, sections, contents) {
  const entries = entriesOf(api, sections);
  const input = element('input', { id: 'search', type: 'search', autocomplete: 'off' });
  const count = element('p', { class: 'quiet', role: 'status' });
  const list = element('ul', { class: 'found' });
  const update = () => {
    const found = find(entries, input.value);
    const isSought = input.value.trim() !== '';
    contents.hidden = isSought;
    count.replaceChildren(...(isSought ? [say(foundCount(found.length, MOST_FOUND))] : []));
    list.replaceChildren(...found.slice(0, MOST_FOUND).map(resultNode));
  };
  const clear = () => {
    input.value = '';
    update();
  };
  input.addEventListener('input', update);
  input.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') clear();
    if (key === 'Enter') list.querySelector('a')?.click();
  });
  // In a narrow window, the list would cover the result.
  list.addEventListener('click', () => {
    if (matchMedia('(max-width: 48rem)').matches) clear();
  });
  document.addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    const isTyped = target instanceof Element && target.matches(TYPED_IN);
    if (key !== '/' || isTyped || ctrlKey || metaKey || altKey) return;
    event.preventDefault();
    input.focus();
  });
  const label = element('label', { for: input.id }, say(WORDS.search), ' ');
  label.append(element('kbd', { 'aria-hidden': 'true' }, '/'));
  return [element('div', { class: 'search', role: 'search' }, label, input, count), list];
}

/** @param {Entry} entry */
const resultNode = ({ href, name, where }) =>
  element('li', {}, element('a', { href }, say(name), element('small', {}, say(where))));
