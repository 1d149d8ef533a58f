/** The results of a batch as a table. */
import { element } from './dom.js';
import { linesOf } from './lines.js';
import { say } from './speech.js';
import { table } from './tables.js';
import { WORDS } from './words.js';

/** @typedef {import('./lines.js').Line} Line */

/** @param {unknown} data of an answer @returns {HTMLElement[]} nothing where it is that of no batch */
export function batchResults(data) {
  const lines = linesOf(data);
  if (!lines) return [];
  const heads = [WORDS.line, WORDS.matter, WORDS.result, WORDS.meaning];
  return [table(heads, lines.map(lineRow))];
}

/** @param {Line} line */
const lineRow = ({ line, externalId, isGood, result, texts }) =>
  element(
    'tr',
    { class: isGood ? 'good' : 'bad' },
    element('th', { scope: 'row' }, String(line)),
    element('td', {}, externalId),
    element('td', {}, result ? element('code', {}, result) : say(WORDS.lineAccepted)),
    element('td', {}, ...texts.flatMap((text) => [text, element('br')])),
  );
