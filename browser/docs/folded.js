/** Folded parts: details, and the schemas of an operation. */
import { element } from './dom.js';
import { say } from './speech.js';
import { schemaId, schemaNode } from './tables.js';
import { pairOf } from './text.js';

/** @typedef {import('./shapes').Api} Api */
/** @typedef {import('./shapes').Words} Words */

/** @param {Words} words @param {...(Node | string)} content */
export const folded = (words, ...content) =>
  element('details', {}, element('summary', {}, say(words)), ...content);

/**
 * @param {Api} api
 * @param {string} scope the operation or part of the page that contains the schemas
 * @param {Words} words the title
 * @param {readonly string[]} names
 * @param {'h3' | 'h5'} [heading] the level below the heading above
 * @returns {HTMLElement[]} empty if there are no names
 */
export function foldedSchemas(api, scope, words, names, heading = 'h5') {
  if (names.length === 0) return [];
  const list = element('span', { class: 'names' }, ` ${names.join(', ')}`);
  const summary = element('summary', {}, say(words), list);
  const nodes = names.map((name) => schemaSection(api, scope, name, heading));
  return [element('details', { class: 'schemas' }, summary, ...nodes)];
}

/** @param {Api} api @param {string} scope @param {string} name @param {'h3' | 'h5'} heading */
function schemaSection({ components }, scope, name, heading) {
  const schema = components.schemas[name] ?? {};
  const id = schemaId(scope, name);
  return element(
    'div',
    { id, 'data-schema': name },
    element(heading, {}, element('code', {}, name)),
    element('p', {}, say(pairOf(schema.description))),
    schemaNode(schema, scope, id),
  );
}
