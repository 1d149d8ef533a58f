/** Tables of fields and headers. */
import { element } from './dom.js';
import { fieldsOf, nameOf, typeOf } from './schema.js';
import { say } from './speech.js';
import { pairOf } from './text.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').Header} Header */
/** @typedef {import('./shapes').Schema} Schema */
/** @typedef {import('./schema.js').Field} Field */
/** @typedef {import('./schema.js').TypePart} TypePart */
/** @typedef {import('./shapes').Words} Words */

/** @param {readonly Words[]} heads @param {readonly HTMLElement[]} rows */
export const table = (heads, rows) =>
  element(
    'table',
    {},
    element(
      'thead',
      {},
      element('tr', {}, ...heads.map((words) => element('th', { scope: 'col' }, say(words)))),
    ),
    element('tbody', {}, ...rows),
  );

/** The fields of a schema; of one without fields its type. @param {Schema} schema */
export function schemaNode(schema) {
  const fields = fieldsOf(schema);
  if (fields.length === 0) return typeNode(typeOf(schema));
  return table([WORDS.field, WORDS.meaning], fields.map(fieldRow));
}

/** @param {string} name @param {(string | Node)[]} beside it @param {Node[]} about it */
const row = (name, beside, about) =>
  element(
    'tr',
    {},
    element('th', { scope: 'row' }, element('code', {}, name), ...beside),
    element('td', {}, ...about),
  );

/** @param {Node} text */
const rule = (text) => element('small', { class: 'rule' }, text);

/** @param {Field} field */
const fieldRow = ({ name, required, type, rules, about }) =>
  row(
    name,
    [
      ...(required ? [' ', element('em', { class: 'required' }, say(WORDS.required))] : []),
      typeNode(type),
    ],
    [say(about), ...rules.map((words) => rule(say(words)))],
  );

/** @param {TypePart[]} parts */
const typeNode = (parts) =>
  element(
    'div',
    { class: 'type' },
    ...parts.map((part) =>
      typeof part === 'string' ? part : element('a', { href: `#schema-${part.ref}` }, part.ref),
    ),
  );

/** What a call carries. @param {readonly Header[]} headers */
export const parametersTable = (headers) =>
  table(
    [WORDS.header, WORDS.meaning],
    headers.map((header) => headerRow(header.name ?? '', header, true)),
  );

/** @param {readonly [name: string, header: Header][]} headers of answers */
export const headersTable = (headers) =>
  table(
    [WORDS.header, WORDS.meaning],
    headers.map(([name, header]) => headerRow(name, header, false)),
  );

/** @param {string} name @param {Header} header @param {boolean} isAsked */
const headerRow = (name, { description, required, example }, isAsked) =>
  row(name, isAsked ? [' ', needed(required)] : [], [
    say(pairOf(description)),
    ...(example ? [rule(element('code', {}, example))] : []),
  ]);

/** @param {boolean} required */
const needed = (required) =>
  element(
    'em',
    { class: required ? 'required' : 'optional' },
    say(required ? WORDS.required : WORDS.optional),
  );

/** A link to where a schema is told. @param {string} ref */
export const schemaLink = (ref) =>
  element('a', { href: `#schema-${nameOf(ref)}` }, element('code', {}, nameOf(ref)));
