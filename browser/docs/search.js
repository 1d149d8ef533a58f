/** The search index and the search. Pure. */
import { answersOf, endpointsOf, mediaOf } from './api.js';
import { fieldsOf, neededBy } from './schema.js';
import { titleOf } from './text.js';

/** @typedef {import('./shapes').Api} Api */
/** @typedef {import('./shapes').Operation} Operation */
/** @typedef {import('./shapes').Words} Words */

/**
 * `name`: the searched name; `where`: shown beside it in the list; `text`: more searched text.
 *
 * @typedef {{ href: string, name: Words, where: Words, text: string }} Entry
 */

/** @typedef {{ readonly id: string, readonly title: Words }} Titled */

/** The maximum number of results. */
export const MOST_FOUND = 30;

/**
 * @param {Api} api
 * @param {readonly Titled[]} sections
 * @returns {Entry[]} operations and sections first, then reasons, headers and fields
 */
export const entriesOf = (api, sections) => [
  ...endpointsOf(api).map(({ path, operation }) => ({
    href: `#${operation.operationId}`,
    name: titleOf(operation.summary),
    where: both(path),
    text: `${operation.operationId} ${path} ${operation.description}`,
  })),
  ...sections.map(({ id, title }) => ({ href: `#${id}`, name: title, where: both(''), text: '' })),
  ...Object.values(api.components.examples).map(({ summary, description, value }) => ({
    href: `#reason-${summary}`,
    name: both(summary),
    where: both(`${value.code} ${value.message}`),
    text: description,
  })),
  ...Object.values(api.components.parameters).map(({ name = '', description }) => ({
    href: `#header-${name}`,
    name: both(name),
    where: both(''),
    text: description,
  })),
  ...endpointsOf(api)
    .flatMap(({ operation }) => fieldEntries(api, operation))
    // A schema may be in several operations: the result leads to the first one.
    .filter(({ key }, index, all) => all.findIndex((other) => other.key === key) === index),
];

/** @param {Api} api @param {Operation} operation @returns {(Entry & { key: string })[]} */
function fieldEntries(api, operation) {
  const { schemas } = api.components;
  const media = [operation.requestBody, ...answersOf(api, operation)].map(mediaOf);
  const names = media.flatMap((one) => (one ? neededBy(schemas, one.schema) : []));
  const title = titleOf(operation.summary);
  return names.flatMap((schema) =>
    fieldsOf(schemas[schema] ?? {}).map(({ name, about }) => ({
      key: `${schema}.${name}`,
      href: `#${operation.operationId}-${schema}.${name}`,
      name: both(name),
      where: /** @type {Words} */ ([`${schema} · ${title[0]}`, `${schema} · ${title[1]}`]),
      text: about.join(' '),
    })),
  );
}

/** The same in both languages. @param {string} text @returns {Words} */
const both = (text) => [text, text];

/**
 * The items that contain every word, in either language; the best matching names first.
 *
 * @param {readonly Entry[]} entries
 * @param {string} sought
 * @returns {Entry[]} all of them; none for a text of blanks
 */
export function find(entries, sought) {
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return entries
    .map((entry, order) => ({ entry, order, distance: distanceOf(entry, words) }))
    .filter(({ distance }) => distance < Infinity)
    .sort((a, b) => a.distance - b.distance || a.order - b.order)
    .map(({ entry }) => entry);
}

/** @param {Entry} entry @param {readonly string[]} words lower case */
function distanceOf({ name, where, text }, words) {
  const names = name.map((one) => one.toLowerCase());
  const all = [...names, ...where, text].join(' ').toLowerCase();
  if (!words.every((word) => all.includes(word))) return Infinity;
  const sought = words.join(' ');
  if (names.includes(sought)) return 0;
  if (names.some((one) => one.startsWith(sought))) return 1;
  return names.some((one) => words.every((word) => one.includes(word))) ? 2 : 3;
}
