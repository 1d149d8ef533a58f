/** The pages about alerts, as the build has rendered them: what links to them, and that nothing in them runs. */
import { join } from 'node:path';
import { manualOf } from '../../../browser/operator/manual';
import { readPage } from '../../../src/http/documents';
import { alerts } from '../../support/prometheus';

const FILES = readPage(join(__dirname, '../../../dist/browser/manual'), '/manual');
const PAGES = [...FILES.keys()].filter((path) => path.endsWith('.html'));
const htmlOf = (path: string) => String(FILES.get(path)?.bytes ?? '');
const valuesOf = (html: string, name: string) =>
  [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value);
const headingsOf = (html: string) =>
  [...html.matchAll(/<h[1-6] id="([^"]+)">/g)].map(([, id = '']) => id);
/** Whether a link leads to a file that is served, and to a heading in it. */
function isThere(link: string, from: string): boolean {
  const { origin, pathname, hash } = new URL(link, `http://host${from}`);
  if (origin !== 'http://host' || !FILES.has(pathname)) return false;
  return hash === '' || headingsOf(htmlOf(pathname)).includes(decodeURIComponent(hash.slice(1)));
}

test('there are the pages of alerts and of the runbook', () => {
  expect(PAGES.sort()).toEqual(['/manual/alerts.html', '/manual/runbook.html']);
});

test.each(alerts())('the link of $alert leads to its heading', ({ alert, annotations }) => {
  const link = manualOf(annotations.runbook_url ?? '');
  expect(link).toBe(`manual/alerts.html#${alert.toLowerCase()}`);
  // The page at `/` has the link.
  expect(isThere(link, '/')).toBe(true);
  expect(htmlOf('/manual/alerts.html')).toContain(`<h3 id="${alert.toLowerCase()}">${alert}</h3>`);
});

describe.each(PAGES)('%s', (path) => {
  const html = htmlOf(path);

  test('links only to files and headings that are there, by relative addresses', () => {
    const links = [...valuesOf(html, 'href'), ...valuesOf(html, 'src')];
    expect(links.length).toBeGreaterThan(2);
    expect(links.filter((link) => link.startsWith('/') || !isThere(link, path))).toEqual([]);
  });

  test('has each id once', () => {
    const ids = valuesOf(html, 'id');
    expect(ids.length).toBeGreaterThan(8);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('contains no script, no frame and nothing inline', () => {
    expect(html).not.toMatch(/<(?:script|style|iframe|img|form)|\sstyle=|\son\w+=/i);
    expect(html).not.toMatch(/\{(?:title|content)\}|undefined/);
  });

  test('shows placeholders in angle brackets as text', () => {
    expect(html).toContain('&lt;requestId&gt;');
  });
});
