/**
 * Renders pages of `docs` as static pages that the internal port serves. An operator can then read them when an alert
 * fires, without the repository.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';

const FOLDER = 'browser/manual';
/** Names of the pages: `docs/alerts.md` becomes `manual/alerts.html`. */
const MANUALS = ['alerts', 'runbook'];
/** The sources of the pages, relative to the folder of the project. */
export const MANUAL_SOURCES = MANUALS.map((name) => `docs/${name}.md`);
const ENTRIES = {
  'main.css': `${FOLDER}/main.css`,
  '../console/icon.svg': 'browser/console/icon.svg',
};

/**
 * Writes the pages and their hashed files.
 * @param {Function} bundle `build` of esbuild
 * @param {object} options of esbuild that all pages have
 */
export async function writeManual(bundle, options, root, outdir) {
  const marked = await importFrom(root, 'marked');
  const entryPoints = Object.values(ENTRIES);
  const { metafile } = await bundle({ ...options, absWorkingDir: root, entryPoints, outdir });
  const builtFrom = (entry) =>
    Object.keys(metafile.outputs).find((name) =>
      Object.keys(metafile.outputs[name].inputs).includes(entry),
    );
  let page = readFileSync(join(root, FOLDER, 'page.html'), 'utf8');
  for (const [name, entry] of Object.entries(ENTRIES)) {
    page = page.replace(`"${name}"`, () => `"${basename(builtFrom(entry))}"`);
  }
  mkdirSync(outdir, { recursive: true });
  for (const name of MANUALS) {
    const source = readFileSync(join(root, `docs/${name}.md`), 'utf8');
    const title = /^# (.+)$/m.exec(source)[1];
    const parts = { title: escaped(title), content: rendered(marked, source) };
    const html = page.replace(/\{(title|content)\}/g, (_, part) => parts[part]);
    writeFileSync(join(outdir, `${name}.html`), html);
  }
}

/** Resolves the package from the folder of the project, where the set-up may just have installed it. */
const importFrom = (root, name) =>
  import(pathToFileURL(createRequire(join(root, 'package.json')).resolve(name)).href);

function rendered({ Marked }, source) {
  const renderer = {
    heading({ tokens, depth, text }) {
      const content = this.parser.parseInline(tokens);
      return `<h${depth} id="${idOf(text)}">${content}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const content = this.parser.parseInline(tokens);
      const address = addressOf(href);
      if (address) return `<a href="${escaped(address)}">${content}</a>`;
      return `${content} (<code>${escaped(posix.join('docs', href))}</code>)`;
    },
    // The internal port does not serve the pictures.
    image: ({ text }) => `<em>${escaped(text)}</em>`,
    // Markup in a source is shown as text: the pages contain no scripts.
    html: ({ text }) => escaped(text),
  };
  return new Marked({ renderer }).parse(source, { async: false });
}

/** The id of a heading, as GitHub makes it: the links in `docs` use these ids. */
export const idOf = (title) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** @returns {string | undefined} the address in the pages; undefined for other files of the repository */
function addressOf(href) {
  if (href.startsWith('#')) return href;
  const [, name, anchor = ''] = /^(\w+)\.md(#.*)?$/.exec(href) ?? [];
  return MANUALS.includes(name) ? `${name}.html${anchor}` : undefined;
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => text.replace(/[&<>"]/g, (letter) => ENTITIES[letter]);
