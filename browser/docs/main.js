/** The reference page. Its content comes from openapi.json, its own texts from words.js. */

import { contents } from './contents.js';
import { element } from './dom.js';
import { head } from './head.js';
import { operationNodes } from './operations.js';
import { reveal } from './reveal.js';
import { errors, overview, signing } from './sections.js';
import { signingExamples } from './signing-examples.js';
import { preferredLanguage, say, speak } from './speech.js';
import { tryIt } from './try-it.js';
import { WORDS } from './words.js';

/** The address of the service. The page is served next to the operations, also under a path prefix. */
const BASE = new URL('.', location.href);

/** @param {string} path @throws {Error} if the file is missing */
async function load(path) {
  const response = await fetch(new URL(path, BASE));
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response;
}

/** @param {string} path */
const loadJson = async (path) => (await load(path)).json();
/** @param {string} path */
const loadText = async (path) => (await load(path)).text();

async function main() {
  // The service announces the demo client only to requests under its own host name.
  const hasDemo = document.documentElement.hasAttribute('data-demo');
  const [api, demo] = await Promise.all([
    loadJson('openapi.json'),
    hasDemo ? loadJson('docs/demo.json').catch(() => undefined) : undefined,
  ]);
  const form = tryIt(api, BASE, demo);
  const onTry = (/** @type {string} */ operationId) => {
    form.choose(operationId);
    form.node.scrollIntoView();
  };
  const tryAbout = element('p', {}, say(WORDS.tryAbout));
  const sections = [
    { id: 'overview', title: WORDS.overview, content: overview(api) },
    {
      id: 'signing',
      title: WORDS.signing,
      content: [...signing(api), ...signingExamples(loadText)],
    },
    { id: 'try-it', title: WORDS.tryIt, content: [tryAbout, form.node] },
    { id: 'operations', title: WORDS.endpoints, content: operationNodes(api, onTry) },
    { id: 'errors', title: WORDS.errors, content: errors(api) },
  ];
  const nodes = sections.map(({ id, title, content }) =>
    element('section', { id }, element('h2', {}, say(title)), ...content),
  );
  const beside = contents(api, sections);
  document.body.append(head(api), beside.node, element('main', {}, ...nodes));
  beside.begin();
  addEventListener('hashchange', () => reveal(location.hash));
  // The browser looked for the fragment before the page was complete.
  reveal(location.hash);
}

main().catch(() => {
  speak(preferredLanguage());
  document.body.append(element('p', { role: 'alert' }, say(WORDS.notLoaded)));
});
