/** The operations in the order of the OpenAPI document. */
import { answersOf, endpointsOf, mediaOf, parametersOf, rejectionsOf } from './api.js';
import { element } from './dom.js';
import { folded, foldedSchemas } from './folded.js';
import { nameOf, neededBy } from './schema.js';
import { say } from './speech.js';
import { headersTable, parametersTable, schemaId, schemaNode } from './tables.js';
import { pairOf, titleOf } from './text.js';
import { pretty } from './verbatim.js';
import { exampleNamed, WORDS } from './words.js';

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
    detailsNode(api, operation),
  );
}

/** Headers, body, answers and errors are folded, so that a reader sees all operations. @param {Api} api @param {Operation} operation */
function detailsNode(api, operation) {
  const parameters = parametersOf(api, operation);
  return folded(
    operation.requestBody ? WORDS.details : WORDS.answerDetails,
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
function bodyNodes(api, { operationId, requestBody }) {
  const media = mediaOf(requestBody);
  if (!requestBody || !media) return [];
  const named = media.schema.$ref ? nameOf(media.schema.$ref) : '';
  const needed = neededBy(api.components.schemas, media.schema).filter((name) => name !== named);
  const id = schemaId(operationId, named);
  return [
    element('h4', {}, say(WORDS.body)),
    element('p', {}, say(pairOf(requestBody.description))),
    element(
      'div',
      named ? { id, 'data-schema': named } : {},
      schemaNode(resolved(api, media.schema), operationId, id),
    ),
    ...foldedSchemas(api, operationId, WORDS.bodyFields, needed),
    ...exampleNodes(media),
  ];
}

/** @param {Api} api @param {Operation} operation */
function answerNodes(api, operation) {
  const answers = answersOf(api, operation);
  if (answers.length === 0) return [];
  const headers = Object.entries(answers[0]?.headers ?? {}).flatMap(([name, { $ref }]) => {
    const header = api.components.headers[nameOf($ref)];
    return header ? [/** @type {[string, typeof header]} */ ([name, header])] : [];
  });
  const media = answers.flatMap((answer) => mediaOf(answer) ?? []);
  return [
    element('h4', {}, say(WORDS.answer)),
    ...answers.map(({ description }) => element('p', {}, say(pairOf(description)))),
    ...media.flatMap(({ schema }) => linesOf(schema, operation.operationId)),
    ...foldedSchemas(api, operation.operationId, WORDS.answerFields, namesOf(api, operation)),
    ...media.flatMap(exampleNodes),
    ...(headers.length > 0 ? [folded(WORDS.answerHeaders, headersTable(headers))] : []),
  ];
}

/** Schemas of the answers that the body does not contain. @param {Api} api @param {Operation} operation */
function namesOf(api, operation) {
  const { schemas } = api.components;
  const asked = neededBy(schemas, mediaOf(operation.requestBody)?.schema ?? {});
  const answers = answersOf(api, operation).flatMap((answer) => mediaOf(answer) ?? []);
  const answered = answers.flatMap(({ schema }) => neededBy(schemas, schema));
  return [...new Set(answered)].filter((name) => !asked.includes(name));
}

/** The fields of a line, if the answer consists of lines. @param {Schema} schema @param {string} scope */
const linesOf = ({ contentSchema }, scope) =>
  contentSchema ? [schemaNode(contentSchema, scope, schemaId(scope, 'answer'))] : [];

/** @param {MediaType} media */
const exampleNodes = ({ examples = {} }) =>
  Object.entries(examples).map(([name, { value }], _index, all) =>
    folded(all.length > 1 ? exampleNamed(name) : WORDS.example, pretty(value)),
  );

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

/** Resolves a reference; for a body of lines, the schema of one line. @param {Api} api @param {Schema} schema @returns {Schema} */
function resolved({ components }, schema) {
  if (schema.contentSchema) return schema.contentSchema;
  return (schema.$ref && components.schemas[nameOf(schema.$ref)]) || schema;
}
