/** The pages as the build has bundled them: their size, and that their files find each other and nothing else. */
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type PageFiles, readPage } from '../../../src/http/documents';
import { readConsoleFiles, readDocsFiles } from '../../../src/http/pages';

const ROOT = join(__dirname, '../../..');
const MAX_BYTES = 60_000;

const isExample = (path: string) => path.startsWith('/docs/signing/');
const PAGES: [string, PageFiles][] = [
  ['/console', readConsoleFiles(ROOT)],
  ['/docs', new Map([...readDocsFiles(ROOT)].filter(([path]) => !isExample(path)))],
  ['/', readPage(join(ROOT, 'dist/browser/operator'), '/')],
];
const textOf = (files: PageFiles, path: string) => String(files.get(path)?.bytes ?? '');
const namesIn = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, name = '']) => name);
const resolved = (names: readonly string[], path: string) =>
  names.map((name) => new URL(name, `http://host${path}`).pathname);

const LINKED = /<(?:link|script)\b[^>]*\s(?:href|src)="([^"]+)"/g;
const IMPORTED = /\b(?:from|import)\s*"([\w@./-]+)"/g;
const LAZY = /\bimport\("([^"]+)"\)/g;

/** A module and the modules that it imports when it starts. */
function withImports(files: PageFiles, start: readonly string[]): string[] {
  const found = new Set(start);
  // The loop also visits the modules that it adds to the set.
  for (const path of found) {
    if (!path.endsWith('.js')) continue;
    for (const name of resolved(namesIn(textOf(files, path), IMPORTED), path)) found.add(name);
  }
  return [...found];
}

describe.each(PAGES)('the page at %s', (page, files) => {
  const html = textOf(files, page);
  const linked = resolved(namesIn(html, LINKED), page);
  const scripts = linked.filter((path) => path.endsWith('.js'));
  const screens = resolved(
    scripts.flatMap((path) => namesIn(textOf(files, path), LAZY)),
    `${page}/`,
  );

  test('with any of its screens is at most 60 KB, compressed', () => {
    const start = withImports(files, [page, ...linked]);
    for (const paths of [start, ...screens.map((it) => withImports(files, [...start, it]))]) {
      const bytes = paths.map(
        (path) => gzipSync(files.get(path)?.bytes ?? '', { level: 9 }).length,
      );
      expect([paths.at(-1), bytes.reduce((sum, it) => sum + it) <= MAX_BYTES]).toEqual([
        ...[paths.at(-1), true],
      ]);
    }
  });

  test('consists of the files that it links and imports', () => {
    const used = withImports(files, [page, ...linked, ...screens]);
    expect(used.sort()).toEqual([...files.keys()].sort());
  });

  test('names in its head every module that its script imports', () => {
    expect(withImports(files, scripts).sort()).toEqual(scripts.sort());
  });

  test('names no other origin', () => {
    for (const path of files.keys()) {
      const names = textOf(files, path).match(/\b(?:https?:)?\/\/[a-z][\w.-]*\.[a-z]{2,}[^\s'"]*/g);
      // Names of namespaces, which no browser requests.
      const others = names?.filter((name) => !name.startsWith('http://www.w3.org/'));
      expect([path, others ?? []]).toEqual([path, []]);
    }
  });

  test('has nothing inline', () => {
    expect(html).not.toMatch(/<style|<script(?![^>]* src)|style=|\son\w+=/);
  });
});

test('the console has a file for each screen', () => {
  const [[, files] = []] = PAGES;
  const main = [...(files?.keys() ?? [])].find((path) => /\/main-\w+\.js$/.test(path));
  expect(files && main && namesIn(textOf(files, main), LAZY)).toHaveLength(9);
});
