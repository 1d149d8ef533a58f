/** Tables of fields and headers. */
import { element } from './dom.js';
import { fieldsOf, typeOf } from './schema.js';
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

/**
 * The table of a schema's fields; for a schema without fields, its type.
 *
 * @param {Schema} schema
 * @param {string} scope the operation or part that contains the schemas to which this one refers
 * @param {string} id of the schema there
 */
export function schemaNode(schema, scope, id) {
  const fields = fieldsOf(schema);
  if (fields.length === 0) return typeNode(typeOf(schema), scope);
  const rows = fields.map((field, index) => {
    // Alternatives of a body may have fields of the same name: links lead to the first one.
    const isFirst = fields.findIndex(({ name }) => name === field.name) === index;
    return fieldRow(field, scope, isFirst ? `${id}.${field.name}` : '');
  });
  return table([WORDS.field, WORDS.meaning], rows);
}

/**
 * @param {string} name
 * @param {(string | Node)[]} beside it
 * @param {Node[]} about it
 * @param {string} id empty: none
 */
const row = (name, beside, about, id) =>
  element(
    'tr',
    id ? { id } : {},
    element('th', { scope: 'row' }, element('code', {}, name), ...beside),
    element('td', {}, ...about),
  );

/** @param {Node} text */
const rule = (text) => element('small', { class: 'rule' }, text);

/** @param {Field} field @param {string} scope @param {string} id empty: none */
const fieldRow = ({ name, required, type, rules, about }, scope, id) =>
  row(
    name,
    [
      ...(required ? [' ', element('em', { class: 'required' }, say(WORDS.required))] : []),
      typeNode(type, scope),
    ],
    [say(about), ...rules.map((words) => rule(say(words)))],
    id,
  );

/** @param {TypePart[]} parts @param {string} scope */
const typeNode = (parts, scope) =>
  element(
    'div',
    { class: 'type' },
    ...parts.map((part) =>
      typeof part === 'string'
        ? part
        : element('a', { href: `#${schemaId(scope, part.ref)}` }, part.ref),
    ),
  );

/** The headers of a request. @param {readonly Header[]} headers @param {string} [prefix] of the row ids; empty: no ids */
export const parametersTable = (headers, prefix = '') =>
  table(
    [WORDS.header, WORDS.meaning],
    headers.map((header) => {
      const { name = '' } = header;
      return headerRow(name, header, true, prefix && prefix + name);
    }),
  );

/** @param {readonly [name: string, header: Header][]} headers of answers */
export const headersTable = (headers) =>
  table(
    [WORDS.header, WORDS.meaning],
    headers.map(([name, header]) => headerRow(name, header, false, '')),
  );

/**
 * @param {string} name
 * @param {Header} header
 * @param {boolean} isAsked
 * @param {string} id empty: none
 */
const headerRow = (name, { description, required, example }, isAsked, id) =>
  row(
    name,
    isAsked ? [' ', needed(required)] : [],
    [say(pairOf(description)), ...(example ? [rule(element('code', {}, example))] : [])],
    id,
  );

/** @param {boolean} required */
const needed = (required) =>
  element(
    'em',
    { class: required ? 'required' : 'optional' },
    say(required ? WORDS.required : WORDS.optional),
  );

/** The id of a schema inside an operation or another part of the page. @param {string} scope @param {string} name */
export const schemaId = (scope, name) => `${scope}-${name}`;
