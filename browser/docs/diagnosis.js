/** Shows the cause of a rejected signature, which push-logs/query returns for the requestId of the 401. */
import { element } from './dom.js';
import { findingsOf } from './findings.js';
import { say } from './speech.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').Words} Words */
/** @typedef {import('./findings.js').Finding} Finding */
/** @typedef {(requestId: string) => Promise<string>} Ask the text of the answer; rejects where there is none */

/**
 * A field for the requestId of this or another 401, and a button that starts the query.
 *
 * @param {string} requestId
 * @param {Ask} ask
 */
export function diagnosisNode(requestId, ask) {
  const input = element('input', { id: 'try-request', maxlength: '24', spellcheck: 'false' });
  input.value = requestId;
  const button = element('button', { type: 'button', class: 'diagnose' }, say(WORDS.diagnose));
  const told = element('div', { class: 'diagnosis', 'aria-live': 'polite' });
  button.addEventListener('click', async () => {
    button.disabled = true;
    told.replaceChildren(element('p', {}, say(WORDS.sending)));
    const nodes = await ask(input.value.trim()).then(resultNodes, () => [line(WORDS.noAnswer)]);
    told.replaceChildren(...nodes);
    button.disabled = false;
  });
  return element(
    'div',
    { class: 'hints' },
    element('h4', {}, say(WORDS.diagnosis)),
    element('p', {}, say(WORDS.diagnosisAbout)),
    element('p', { class: 'field' }, element('label', { for: input.id }, 'requestId'), input),
    element('p', { class: 'buttons' }, button),
    told,
  );
}

/** @param {string} text @returns {Node[]} */
function resultNodes(text) {
  const result = findingsOf(text);
  if (typeof result === 'string')
    return [line(WORDS.diagnosisRejected), element('code', {}, result)];
  return result ? [element('ul', {}, ...result.map(findingNode))] : [line(WORDS.noDiagnosis)];
}

/** @param {Words} words */
const line = (words) => element('p', {}, say(words));

/** @param {Finding} finding */
const findingNode = ({ cause, explanation, fix, difference }) =>
  element(
    'li',
    {},
    element('code', {}, cause),
    ` ${explanation} ${fix}`,
    ...(difference
      ? [element('pre', {}, `${difference.offset}\n- ${difference.sent}\n+ ${difference.signed}`)]
      : []),
  );
