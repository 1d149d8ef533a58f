/** The three pages on the wire: what they load is compressed, small altogether, and named in the page. */
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { type Service, startService } from '../../support/service';

/** Bytes of all files of a page. */
const MOST = 150 * 1_024;

let service: Service;
beforeAll(async () => {
  service = await startService({ workers: 0, metrics: true });
});
afterAll(() => service?.stop());

async function ask(url: string, { method = 'GET', headers = {} } = {}) {
  const res = await new Promise<IncomingMessage>((taken, failed) => {
    request(url, { method, headers, agent: false }, taken).on('error', failed).end();
  });
  return { status: res.statusCode, headers: res.headers, body: await buffer(res) };
}
const GZIP = { 'Accept-Encoding': 'gzip, deflate' };
const outside = () => service.urlOf();
const inside = () => new URL('/', String(service.metricsUrls[0])).href;

const PAGES: [name: string, page: () => string, asked: string[]][] = [
  ['the console', () => `${outside()}/console`, []],
  ['the reference page', () => `${outside()}/docs`, ['openapi.json']],
  ["the operator's screen", inside, []],
];

describe.each(PAGES)('%s', (title, page, asked) => {
  const linkedBy = (html: string) =>
    [...html.matchAll(/ (?:src|href)="([^"]+)"/g)].map(([, it = '']) => it);
  /** The page itself, and what it loads. */
  const all = async () => {
    const first = await ask(page(), { headers: GZIP });
    const html = String(gunzipSync(first.body));
    const names = [...new Set([...linkedBy(html), ...asked])];
    const others = await Promise.all(
      names.map(async (name) => {
        const url = new URL(name, page()).href;
        return { name, url, ...(await ask(url, { headers: GZIP })) };
      }),
    );
    return { html, others, bytes: [first, ...others].map(({ body }) => body.length) };
  };

  test('is below 150 KB with all that it loads, as it is sent', async () => {
    const { others, bytes } = await all();
    expect(others.filter(({ status }) => status !== 200).map(({ name }) => name)).toEqual([]);
    const sum = bytes.reduce((total, size) => total + size, 0);
    process.stdout.write(`${title}: ${bytes.length} files, ${sum} bytes\n`);
    expect(sum).toBeLessThan(MOST);
  });

  test('names every module that one of its modules imports, once', async () => {
    const { html, others } = await all();
    const named = [...html.matchAll(/<link rel="modulepreload" href="([^"]+)"/g)].map(
      ([, name]) => new URL(String(name), page()).href,
    );
    const scripts = others.filter(({ url }) => url.endsWith('.js'));
    expect(scripts.length).toBeGreaterThan(10);
    const imported = scripts.flatMap(({ url, body, headers }) => {
      const text = String(headers['content-encoding'] ? gunzipSync(body) : body);
      const names = [...text.matchAll(/\b(?:from|import)\s*["'](\.[^"'\s]+)["']/g)];
      return names.map(([, name = '']) => new URL(name, url).href);
    });
    const [, entry = ''] = /<script type="module" src="([^"]+)"/.exec(html) ?? [];
    const needed = new Set([new URL(entry, page()).href, ...imported]);
    expect([...named].sort()).toEqual([...needed].sort());
  });

  test('has no comments that are for those who work on it', async () => {
    const { others } = await all();
    const withOne = others.filter(({ url, headers, body }) => {
      const text = String(headers['content-encoding'] ? gunzipSync(body) : body);
      return url.endsWith('.js') && /^[ \t]*(?:\/\/|\/\*\*$|\/\*\*.*\*\/$)/m.test(text);
    });
    expect(withOne.map(({ name }) => name)).toEqual([]);
  });

  test('is the same to who takes no gzip, and HEAD tells of the same bytes', async () => {
    const [gzipped, plain] = [await ask(page(), { headers: GZIP }), await ask(page())];
    expect(gzipped.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-length': String(gzipped.body.length),
      vary: 'Accept-Encoding',
    });
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(plain.headers).toMatchObject({
      'content-length': String(plain.body.length),
      vary: 'Accept-Encoding',
    });
    expect(gunzipSync(gzipped.body).equals(plain.body)).toBe(true);
    const head = await ask(page(), { method: 'HEAD', headers: GZIP });
    expect(head.body).toHaveLength(0);
    for (const name of ['etag', 'content-type', 'content-length', 'content-encoding']) {
      expect([name, head.headers[name]]).toEqual([name, gzipped.headers[name]]);
    }
    const { etag = '' } = gzipped.headers;
    const same = await ask(page(), { headers: { ...GZIP, 'If-None-Match': etag } });
    expect({ status: same.status, length: same.body.length }).toEqual({ status: 304, length: 0 });
    expect((await ask(page(), { headers: { 'If-None-Match': etag } })).status).toBe(200);
  });
});

test('answers of the API are not compressed: what they hold is of others, beside what a caller chose', async () => {
  const url = `${outside()}/api/open/matters/query`;
  const { headers } = await ask(url, { method: 'POST', headers: GZIP });
  expect(headers).not.toHaveProperty('content-encoding');
  expect((await ask(`${inside()}status`, { headers: GZIP })).headers).not.toHaveProperty(
    'content-encoding',
  );
});
