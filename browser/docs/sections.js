/** The sections overview, signing and errors. */
import { element } from './dom.js';
import { foldedSchemas } from './folded.js';
import { neededBy } from './schema.js';
import { say } from './speech.js';
import { parametersTable, table } from './tables.js';
import { aboutOf, pairOf } from './text.js';
import { verbatim } from './verbatim.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').Api} Api */
/** @typedef {import('./shapes').ReasonExample} ReasonExample */

/** The schema of every error answer. */
const ENVELOPE = 'ErrorAnswer';

/** @param {Api} api @returns {Node[]} */
export function overview({ info }) {
  const { intro, points } = aboutOf(info.description);
  return [
    element('p', {}, say(intro)),
    element('ul', {}, ...points.map((words) => element('li', {}, say(words)))),
  ];
}

/** @param {Api} api @returns {Node[]} */
export function signing({ info, components }) {
  return [
    element('p', {}, say(WORDS.signingSteps)),
    verbatim('clientId + "\\n" + timestamp + "\\n" + body'),
    element('p', {}, say(WORDS.signingKey)),
    parametersTable(Object.values(components.parameters), 'header-'),
    element('h3', {}, say(WORDS.signingExample)),
    verbatim(aboutOf(info.description).example),
  ];
}

/** @param {Api} api @returns {Node[]} */
export function errors(api) {
  const { components } = api;
  const heads = [WORDS.code, WORDS.reason, WORDS.meaning, WORDS.retry];
  return [
    element('p', {}, say(WORDS.errorsAbout)),
    table(heads, Object.values(components.examples).map(reasonRow)),
    ...foldedSchemas(
      api,
      'errors',
      WORDS.answerFields,
      neededBy(components.schemas, { $ref: ENVELOPE }),
      'h3',
    ),
  ];
}

/** @param {ReasonExample} example */
const reasonRow = ({ summary, description, value: { code, message, retryable } }) =>
  element(
    'tr',
    { id: `reason-${summary}` },
    element('td', {}, String(code)),
    element('th', { scope: 'row' }, element('code', {}, summary)),
    element(
      'td',
      {},
      element('b', { lang: 'zh-CN' }, message),
      element('br'),
      say(pairOf(description)),
    ),
    element('td', {}, say(retryable ? WORDS.yes : WORDS.no)),
  );
