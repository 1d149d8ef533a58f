/** The three pages on the wire: their files are compressed, and small altogether. */
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { type Service, startService } from '../../support/service';

/** Bytes of the files that a page links. */
const MOST = 60_000;

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

const PAGES: [name: string, page: () => string][] = [
  ['the console', () => `${outside()}/console`],
  ['the reference page', () => `${outside()}/docs`],
  ['the operator page', inside],
];

describe.each(PAGES)('%s', (title, page) => {
  const first = async () => {
    const answer = await ask(page(), { headers: GZIP });
    const { headers, body } = answer;
    return { ...answer, html: String(headers['content-encoding'] ? gunzipSync(body) : body) };
  };

  test('is at most 60 KB with the files that it links, as they are sent', async () => {
    const { html, body: own } = await first();
    const names = [...html.matchAll(/<(?:link|script)\b[^>]* (?:src|href)="([^"]+)"/g)];
    const others = await Promise.all(
      names.map(async ([, name = '']) => {
        const answer = await ask(new URL(name, page()).href, { headers: GZIP });
        expect([name, answer.status]).toEqual([name, 200]);
        return answer;
      }),
    );
    const bytes = [own, ...others.map(({ body }) => body)].map(({ length }) => length);
    const sum = bytes.reduce((total, size) => total + size, 0);
    process.stdout.write(`${title}: ${bytes.length} files, ${sum} bytes\n`);
    expect(sum).toBeLessThanOrEqual(MOST);
  });

  test('has a script that is the same without gzip, and HEAD reports the same bytes', async () => {
    const [, name = ''] = /<script [^>]*src="([^"]+)"/.exec((await first()).html) ?? [];
    const script = new URL(name, page()).href;
    const [gzipped, plain] = [await ask(script, { headers: GZIP }), await ask(script)];
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
    const head = await ask(script, { method: 'HEAD', headers: GZIP });
    expect(head.body).toHaveLength(0);
    for (const name of ['etag', 'content-type', 'content-length', 'content-encoding']) {
      expect([name, head.headers[name]]).toEqual([name, gzipped.headers[name]]);
    }
    const { etag = '' } = gzipped.headers;
    const same = await ask(script, { headers: { ...GZIP, 'If-None-Match': etag } });
    expect({ status: same.status, length: same.body.length }).toEqual({ status: 304, length: 0 });
    expect((await ask(script, { headers: { 'If-None-Match': etag } })).status).toBe(200);
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
