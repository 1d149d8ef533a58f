/** The reference page: what it tells comes from /openapi.json, and its own words from words.js. */
import { element } from './dom.js';
import { contents, head } from './head.js';
import { operationNodes } from './operations.js';
import { errors, overview, schemas, signing } from './sections.js';
import { preferredLanguage, say, speak } from './speech.js';
import { tryIt } from './try-it.js';
import { WORDS } from './words.js';

/** Where the service is: the page lies beside its operations, also below a path of a proxy. */
const BASE = new URL('.', location.href);

/** @param {string} path @throws {Error} where it is not there */
async function load(path) {
  const response = await fetch(new URL(path, BASE));
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

async function main() {
  // Only where the service says so: a request for what is not there would be an error.
  const hasDemo = document.documentElement.hasAttribute('data-demo');
  const [api, demo] = await Promise.all([
    load('openapi.json'),
    hasDemo ? load('docs/demo.json') : undefined,
  ]);
  const form = tryIt(api, BASE, demo);
  const onTry = (/** @type {string} */ operationId) => {
    form.choose(operationId);
    form.node.scrollIntoView();
  };
  const warnings = [WORDS.tryAbout, WORDS.tryReal].map((words) => element('p', {}, say(words)));
  const sections = [
    { id: 'overview', title: WORDS.overview, content: overview(api) },
    { id: 'signing', title: WORDS.signing, content: signing(api) },
    { id: 'try-it', title: WORDS.tryIt, content: [...warnings, form.node] },
    { id: 'operations', title: WORDS.endpoints, content: operationNodes(api, onTry) },
    { id: 'errors', title: WORDS.errors, content: errors(api) },
    { id: 'schemas', title: WORDS.schemas, content: schemas(api) },
  ];
  const nodes = sections.map(({ id, title, content }) =>
    element('section', { id }, element('h2', {}, say(title)), ...content),
  );
  document.body.append(head(api), contents(api, sections), element('main', {}, ...nodes));
  // The browser looked for it before it was there.
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

main().catch(() => {
  speak(preferredLanguage());
  document.body.append(element('p', { role: 'alert' }, say(WORDS.notLoaded)));
});
