/** The signing examples of the project, a tab for each language. */
import { element } from './dom.js';
import { EXAMPLES } from './signing-files.js';
import { say } from './speech.js';
import { tabsNode } from './tabs.js';
import { verbatim } from './verbatim.js';
import { exampleRun, WORDS } from './words.js';

/** @typedef {import('./signing-files.js').Example} Example */

/** The path relative to the page. */
const FOLDER = 'docs/signing';
const VECTORS = 'vectors.json';

/** @param {(path: string) => Promise<string>} load the text of a file; rejects where it is not there */
export function signingExamples(load) {
  const tabs = EXAMPLES.map((example) => ({
    name: example.name,
    show: () => load(`${FOLDER}/${example.files[0]}`).then((text) => shown(example, text), failed),
  }));
  return [
    element('p', {}, say(WORDS.examplesAbout)),
    tabsNode('signing-examples', say(WORDS.programmingLanguage), tabs),
    element('p', {}, say(WORDS.vectors), ' ', download(VECTORS)),
  ];
}

/** @param {Example} example @param {string} text */
const shown = ({ command, files }, text) => [
  element('p', {}, say(exampleRun(command)), ...files.flatMap((name) => [' ', download(name)])),
  verbatim(text),
];

const failed = () => [element('p', { role: 'alert' }, say(WORDS.exampleNotLoaded))];

/** @param {string} name */
const download = (name) =>
  element('a', { href: `${FOLDER}/${name}`, download: name }, element('code', {}, name));
