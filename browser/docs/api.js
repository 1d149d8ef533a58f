/** Reads the OpenAPI document. Pure. */
import { nameOf } from './schema.js';

/** @typedef {import('./shapes').Api} Api */
/** @typedef {import('./shapes').Endpoint} Endpoint */
/** @typedef {import('./shapes').MediaType} MediaType */
/** @typedef {import('./shapes').Operation} Operation */
/** @typedef {import('./shapes').Response} Response */

/** In the order of the document. @param {Api} api @returns {Endpoint[]} */
export const endpointsOf = ({ paths }) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

/** The response of a code. @param {Api} api @param {Operation} operation @param {string} code */
export function responseOf(api, operation, code) {
  const told = operation.responses[code];
  if (told && '$ref' in told) return api.components.responses[nameOf(told.$ref)];
  return told;
}

/**
 * The answers of an operation that are no rejections, including a batch with failed lines.
 *
 * @param {Api} api
 * @param {Operation} operation
 * @returns {Response[]}
 */
export const answersOf = (api, operation) =>
  Object.keys(operation.responses)
    .filter((code) => code.startsWith('2'))
    .flatMap((code) => responseOf(api, operation, code) ?? [])
    .filter((response) => mediaOf(response));

/**
 * The reasons of each error code.
 *
 * @param {Api} api
 * @param {Operation} operation
 * @returns {[code: string, reasons: string[]][]}
 */
export function rejectionsOf(api, operation) {
  return Object.keys(operation.responses)
    .map((code) => responseOf(api, operation, code))
    .map((response) => reasonsOf(api, response))
    .flatMap((reasons, index) => {
      const code = Object.keys(operation.responses)[index] ?? '';
      return reasons.length > 0 ? [/** @type {[string, string[]]} */ ([code, reasons])] : [];
    });
}

/** @param {Api} api @param {Response | undefined} response */
const reasonsOf = ({ components }, response) =>
  Object.keys(mediaOf(response)?.examples ?? {}).filter((name) => name in components.examples);

/** The one form of a body. @param {Pick<Response, 'content'> | undefined} told @returns {MediaType | undefined} */
export const mediaOf = (told) => Object.values(told?.content ?? {})[0];

/** The headers of a call. @param {Api} api @param {Operation} operation */
export const parametersOf = ({ components }, { parameters = [] }) =>
  parameters.flatMap(({ $ref }) => components.parameters[nameOf($ref)] ?? []);
