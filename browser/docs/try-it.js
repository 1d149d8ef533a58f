/** The form that signs a call in the browser and sends it. */
import { answerNode } from './answer.js';
import { endpointsOf, mediaOf, parametersOf } from './api.js';
import { send, signCall } from './call.js';
import { curlOf } from './curl.js';
import { element } from './dom.js';
import { dryRunOf } from './dry-run.js';
import { makeForm } from './form.js';
import { say } from './speech.js';
import { verbatim } from './verbatim.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').Api} Api */
/** @typedef {import('./shapes').Demo} Demo */
/** @typedef {import('./shapes').SignedCall} SignedCall */
/** @typedef {import('./shapes').Words} Words */
/** @typedef {import('./form.js').Form} Form */

/** Relative to the service's address. */
const LOG_QUERY = 'api/open/push-logs/query';
/** Characters that every proxy accepts in a header. */
const PRINTABLE = /^[\x20-\x7e]*$/;

/**
 * @param {Api} api
 * @param {URL} base where the service is
 * @param {Demo | undefined} demo
 * @returns {{ node: HTMLElement, choose(operationId: string): void }}
 */
export function tryIt(api, base, demo) {
  const endpoints = endpointsOf(api).filter(({ operation }) => operation.requestBody);
  const form = makeForm(endpoints, demo);
  const result = element('div', { class: 'result', tabindex: '-1' });

  const chosen = () => {
    const found = endpoints.find(({ operation }) => operation.operationId === form.operation.value);
    if (!found) throw new Error(`There is no operation ${form.operation.value}.`);
    return found;
  };
  const examples = () => mediaOf(chosen().operation.requestBody)?.examples ?? {};
  const changeExample = () => {
    form.body.value = bodyText(examples()[form.example.value]?.value, Date.now());
  };
  const changeOperation = () => {
    const names = Object.keys(examples());
    form.example.replaceChildren(...names.map((name) => element('option', {}, name)));
    form.exampleField.hidden = names.length < 2;
    const headers = parametersOf(api, chosen().operation).map(({ name }) => name);
    form.keyField.hidden = !headers.includes('X-Idempotency-Key');
    form.dryField.hidden = !dryRunOf(api, chosen().path);
    changeExample();
  };
  const sign = () => {
    const { path, operation } = chosen();
    const values = valuesOf(form);
    const [type = ''] = Object.keys(operation.requestBody?.content ?? {});
    const dryRun = form.dryRun.checked ? dryRunOf(api, path) : undefined;
    const sent = dryRun ? dryRun(values.body) : { path, type, body: values.body };
    const url = new URL(sent.path.slice(1), base).href;
    return signCall({ ...values, url, type: sent.type, body: sent.body }, Date.now());
  };
  /** Signed with what is in the form by then: the secret may have been mended. @param {string} requestId */
  const askDiagnosis = async (requestId) => {
    const { clientId, secret } = valuesOf(form);
    const url = new URL(LOG_QUERY, base).href;
    const asked = { url, type: 'application/json', clientId, secret, key: '' };
    const call = signCall({ ...asked, body: JSON.stringify({ requestId }) }, Date.now());
    return (await send(call)).text;
  };
  /** @param {(call: SignedCall) => Promise<Node[]>} then what to do with it */
  const perform = async (then) => {
    const problem = problemOf(form);
    if (problem) {
      result.replaceChildren(failure(problem));
      return;
    }
    const call = sign();
    form.send.disabled = true;
    result.replaceChildren(element('p', {}, say(WORDS.sending)));
    result.replaceChildren(...(await then(call)), ...callNodes(call));
    form.send.disabled = false;
    result.focus();
  };

  form.operation.addEventListener('change', changeOperation);
  form.example.addEventListener('change', changeExample);
  form.signOnly.addEventListener('click', () => void perform(async () => []));
  form.node.addEventListener('submit', (event) => {
    event.preventDefault();
    void perform(async (call) => {
      const outcome = await outcomeOf(api, call, askDiagnosis);
      return [element('h3', {}, say(WORDS.result)), outcome];
    });
  });
  changeOperation();
  const choose = (/** @type {string} */ operationId) => {
    form.operation.value = operationId;
    changeOperation();
  };
  return { node: element('div', {}, form.node, result), choose };
}

/** Browsers take away the space around the value of a header: it must not be signed either. @param {Form} form */
const valuesOf = ({ clientId, secret, key, keyField, body }) => ({
  clientId: clientId.value.trim(),
  secret: secret.value,
  key: keyField.hidden ? '' : key.value.trim(),
  body: body.value,
});

/** Why it cannot be signed and sent. @param {Form} form @returns {Words | undefined} */
function problemOf(form) {
  const { clientId, secret, key } = valuesOf(form);
  if (!clientId || !secret) return WORDS.incomplete;
  return PRINTABLE.test(clientId + key) ? undefined : WORDS.notPrintable;
}

/** @param {Words} words */
const failure = (words) => element('p', { class: 'answer bad', role: 'alert' }, say(words));

/**
 * @param {Api} api
 * @param {SignedCall} call
 * @param {import('./diagnosis.js').Ask} ask
 * @returns {Promise<Node>}
 */
const outcomeOf = (api, call, ask) =>
  send(call).then(
    (answer) => answerNode(api, answer, Date.now(), ask),
    () => failure(WORDS.noAnswer),
  );

/** The signed text and the request, without the secret. @param {SignedCall} call */
const callNodes = (call) => [
  element('h4', {}, say(WORDS.signedText)),
  verbatim(call.signed),
  element('h4', {}, say(WORDS.asCurl)),
  verbatim(curlOf(call)),
];

/**
 * The example to send. Its time becomes now, because an older time than in the last attempt would be
 * ignored as stale.
 *
 * @param {unknown} value
 * @param {number} now epoch milliseconds
 */
function bodyText(value, now) {
  if (typeof value !== 'object' || value === null) return String(value ?? '');
  const timed = 'sourceUpdatedAt' in value ? { sourceUpdatedAt: now } : {};
  return JSON.stringify({ ...value, ...timed }, null, 2);
}
