/** The fields of the form, without behaviour. */
import { element } from './dom.js';
import { say } from './speech.js';
import { titleOf } from './text.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').Demo} Demo */
/** @typedef {import('./shapes').Endpoint} Endpoint */
/** @typedef {import('./shapes').Words} Words */
/** @typedef {ReturnType<typeof makeForm>} Form */

/** Browsers neither store nor correct these inputs. */
const PLAIN = { autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' };

/**
 * @param {readonly Endpoint[]} endpoints
 * @param {Demo | undefined} demo filled in where there is one
 */
export function makeForm(endpoints, demo) {
  const clientId = element('input', { id: 'try-client', ...PLAIN });
  const secret = element('input', { id: 'try-secret', type: 'password', ...PLAIN });
  const operation = element('select', { id: 'try-operation' }, ...endpoints.map(optionOf));
  const example = element('select', { id: 'try-example' });
  const hint = { 'aria-describedby': 'try-key-hint' };
  const key = element('input', { id: 'try-key', maxlength: '255', ...hint, ...PLAIN });
  const body = element('textarea', { id: 'try-body', rows: '14', ...PLAIN });
  const dryRun = element('input', {
    id: 'try-dry',
    type: 'checkbox',
    'aria-describedby': 'try-dry-hint',
  });
  const dryField = element(
    'p',
    { class: 'check' },
    dryRun,
    element('label', { for: dryRun.id }, say(WORDS.dryRun)),
    element('small', { id: 'try-dry-hint' }, say(WORDS.dryRunHint)),
  );
  const send = element('button', { type: 'submit', class: 'main' }, say(WORDS.send));
  const signOnly = element('button', { type: 'button' }, say(WORDS.signOnly));
  const exampleField = field(WORDS.exampleChoice, example);
  const keyHint = element('small', { id: 'try-key-hint' }, say(WORDS.idempotencyHint));
  const keyField = field(WORDS.idempotencyKey, key, keyHint);
  clientId.value = demo?.clientId ?? '';
  secret.value = demo?.secret ?? '';
  const node = element(
    'form',
    { class: 'try', novalidate: '' },
    ...(demo ? [element('p', { class: 'note' }, say(WORDS.demoFilled))] : []),
    pair(field(WORDS.clientId, clientId), field(WORDS.secret, secret)),
    pair(field(WORDS.operation, operation), exampleField, keyField),
    field(WORDS.body, body),
    dryField,
    element('p', { class: 'buttons' }, send, signOnly),
  );
  const inputs = { clientId, secret, operation, example, key, body, dryRun };
  return { node, ...inputs, exampleField, keyField, dryField, send, signOnly };
}

/** @param {Endpoint} endpoint */
const optionOf = ({ path, operation: { operationId, summary } }) =>
  element('option', { value: operationId }, say(titleOf(summary)), ` · ${path}`);

/** @param {...Node} fields */
const pair = (...fields) => element('div', { class: 'pair' }, ...fields);

/** @param {Words} words @param {HTMLElement} input @param {...Node} more */
const field = (words, input, ...more) =>
  element('p', { class: 'field' }, element('label', { for: input.id }, say(words)), input, ...more);
