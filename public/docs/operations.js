/** The operations, one after the other. */
import { endpointsOf, mediaOf, parametersOf, rejectionsOf, responseOf } from './api.js';
import { element, pretty } from './dom.js';
import { nameOf } from './schema.js';
import { say } from './speech.js';
import { headersTable, parametersTable, schemaLink, schemaNode } from './tables.js';
import { pairOf, titleOf } from './text.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').Api} Api */
/** @typedef {import('./shapes').Endpoint} Endpoint */
/** @typedef {import('./shapes').MediaType} MediaType */
/** @typedef {import('./shapes').Operation} Operation */
/** @typedef {import('./shapes').Schema} Schema */

/**
 * @param {Api} api
 * @param {(operationId: string) => void} onTry
 * @returns {HTMLElement[]}
 */
export const operationNodes = (api, onTry) =>
  endpointsOf(api).map((endpoint) => operationNode(api, endpoint, onTry));

/** @param {Api} api @param {Endpoint} endpoint @param {(operationId: string) => void} onTry */
function operationNode(api, { path, method, operation }, onTry) {
  const { operationId, summary, description } = operation;
  const parameters = parametersOf(api, operation);
  return element(
    'article',
    { id: operationId },
    element('h3', {}, say(titleOf(summary))),
    element(
      'p',
      { class: 'path' },
      element('code', {}, element('b', {}, method.toUpperCase()), ` ${path}`),
      ...(operation.requestBody ? [tryButton(operationId, onTry)] : []),
    ),
    element('p', {}, say(pairOf(description))),
    ...(parameters.length > 0 ? [folded(WORDS.headers, parametersTable(parameters))] : []),
    ...bodyNodes(api, operation),
    ...answerNodes(api, operation),
    ...rejectionNodes(api, operation),
  );
}

/** @param {string} operationId @param {(operationId: string) => void} onTry */
function tryButton(operationId, onTry) {
  const button = element('button', { type: 'button' }, say(WORDS.tryThis));
  button.addEventListener('click', () => onTry(operationId));
  return button;
}

/** @param {Api} api @param {Operation} operation */
function bodyNodes(api, { requestBody }) {
  const media = mediaOf(requestBody);
  if (!requestBody || !media) return [];
  return [
    element('h4', {}, say(WORDS.body)),
    element('p', {}, say(pairOf(requestBody.description))),
    schemaNode(resolved(api, media.schema)),
    ...exampleNodes(media),
  ];
}

/** @param {Api} api @param {Operation} operation */
function answerNodes(api, operation) {
  const response = responseOf(api, operation, '200');
  const media = mediaOf(response);
  if (!response || !media) return [];
  const headers = Object.entries(response.headers ?? {}).flatMap(([name, { $ref }]) => {
    const header = api.components.headers[nameOf($ref)];
    return header ? [/** @type {[string, typeof header]} */ ([name, header])] : [];
  });
  const { $ref } = media.schema;
  return [
    element('h4', {}, say(WORDS.answer)),
    element('p', {}, say(pairOf(response.description))),
    ...($ref ? [element('p', {}, say(WORDS.answerFields), ': ', schemaLink($ref))] : []),
    ...linesOf(media.schema),
    ...exampleNodes(media),
    ...(headers.length > 0 ? [folded(WORDS.answerHeaders, headersTable(headers))] : []),
  ];
}

/** Where the answer is a text of lines. @param {Schema} schema */
const linesOf = ({ contentSchema }) => (contentSchema ? [schemaNode(contentSchema)] : []);

/** @param {MediaType} media */
const exampleNodes = ({ examples = {} }) =>
  Object.values(examples).map(({ value }) => folded(WORDS.example, pretty(value)));

/** @param {Api} api @param {Operation} operation */
function rejectionNodes(api, operation) {
  const rejections = rejectionsOf(api, operation);
  if (rejections.length === 0) return [];
  const rows = rejections.map(([code, reasons]) =>
    element(
      'li',
      {},
      element('b', {}, code),
      ...reasons.flatMap((reason) => [
        ' ',
        element('a', { href: `#reason-${reason}` }, element('code', {}, reason)),
      ]),
    ),
  );
  return [folded(WORDS.rejections, element('ul', { class: 'reasons' }, ...rows))];
}

/** What not everybody reads. @param {import('./shapes').Words} words @param {Node} content */
const folded = (words, content) =>
  element('details', {}, element('summary', {}, say(words)), content);

/** A body's schema itself where it is referred to; of lines the schema of one. @param {Api} api @param {Schema} schema @returns {Schema} */
function resolved({ components }, schema) {
  if (schema.contentSchema) return schema.contentSchema;
  return (schema.$ref && components.schemas[nameOf(schema.$ref)]) || schema;
}
