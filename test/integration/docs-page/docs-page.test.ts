/** The reference page as it is served: what it may load, who may have it, and that there is no way out of it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { readConsoleFiles, readDocsFiles } from '../../../src/http/pages';
import { entryModel } from '../../../src/storage/push-log/entry';
import { connectRaw, rawPush } from '../../support/raw-http';
import { type Service, startService } from '../../support/service';

const ROOT = join(__dirname, '../../..');
const FILES = [...readDocsFiles(ROOT).keys()];
const CONSOLE_FILES = [...readConsoleFiles(ROOT).keys()];
/** The entry module of a page; its name has a hash. */
const mainOf = (files: readonly string[]) =>
  files.find((name) => /\/main-\w+\.js$/.test(name)) ?? '';
const MAIN = mainOf(FILES);
const NOT_FOUND = { code: 404, reason: 'PATH_NOT_FOUND', data: null, retryable: false };
const body = JSON.stringify({ matterType: 'TODO', externalId: 'DOCS', title: 'x' });

let service: Service;
let off: Service;
let demo: Service;
const folder = mkdtempSync(join(tmpdir(), 'matter-push-demo-'));
const CLIENT = { clientId: 'demo', secret: 's3cret</script>' };

beforeAll(async () => {
  writeFileSync(join(folder, 'demo-client.json'), JSON.stringify({ ...CLIENT, other: 1 }));
  const demoOn = { DOCS_DEMO: 'on', DATA_DIR: folder, PUBLIC_URL: 'http://docs.example/push' };
  // The file lies there for all of them.
  service = await startService({ env: { DATA_DIR: folder } });
  off = await startService({ workers: 0, env: { ...demoOn, PAGES: 'off' } });
  demo = await startService({ workers: 0, env: demoOn });
});
afterAll(async () => {
  for (const one of [service, off, demo]) await one?.stop();
  rmSync(folder, { recursive: true });
});

async function ask(path: string, { of = service, method = 'GET', headers = {} } = {}) {
  const res = await new Promise<IncomingMessage>((taken, failed) => {
    request(of.urlOf() + path, { method, headers, agent: false }, taken)
      .on('error', failed)
      .end();
  });
  return { status: res.statusCode, headers: res.headers, body: await text(res) };
}

/** A signed push that is right but for its method and target. */
async function pushTo(target: string, method = 'GET') {
  const { clientId, secret } = service;
  const caller = await connectRaw(service.urlOf());
  caller.send(rawPush({ clientId, secret, body, method, target }));
  const [answer] = await caller.untilAnswers(1);
  caller.socket.destroy();
  return answer;
}

test('the console is served beside it with the same policy, each file under its address', async () => {
  const { headers: docs } = await ask('/docs');
  const { status, headers, body: page } = await ask('/console');
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(headers['content-security-policy']).toBe(docs['content-security-policy']);
  expect(page).toContain(`<script type="module" src="${mainOf(CONSOLE_FILES).slice(1)}">`);
  for (const path of CONSOLE_FILES) {
    expect([path, (await ask(path)).status]).toEqual([path, 200]);
  }
  const slash = await ask('/console/');
  expect(slash.headers.location).toBe('../console');
});

test('PAGES=off removes both pages', async () => {
  const without = async (of: Service) => [
    (await ask('/docs', { of })).status,
    (await ask('/console', { of })).status,
    (await ask('/console/', { of })).status,
    (await ask(mainOf(CONSOLE_FILES), { of })).status,
  ];
  expect(await without(off)).toEqual([404, 404, 404, 404]);
});

test('the page may load its own files only, and may not be put into another page', async () => {
  const { status, headers, body: page } = await ask('/docs');
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  const policy = String(headers['content-security-policy']).split('; ');
  expect(policy).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
    ]),
  );
  expect(policy.join()).not.toContain('unsafe');
  expect(page).toContain(`<script type="module" src="${MAIN.slice(1)}">`);
  expect(page).not.toContain('data-demo');
});

test.each(FILES)(
  '%s: its type, nothing guessed, no referrer, and how long a browser keeps it',
  async (path) => {
    const { status, headers } = await ask(path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': /-\w{8}\.\w+$/.test(path)
        ? 'public, max-age=31536000, immutable'
        : 'no-cache',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    const type = path.startsWith('/docs/signing/')
      ? 'text/plain'
      : /\.js$/.test(path)
        ? 'text/javascript'
        : /css|svg|html/;
    expect(headers['content-type']).toMatch(type);
  },
);

test.each(['/docs', MAIN])('HEAD of %s has no body', async (path) => {
  const whole = await ask(path);
  const head = await ask(path, { method: 'HEAD' });
  expect(head).toMatchObject({ status: 200, body: '' });
  for (const name of ['etag', 'content-type', 'content-length', 'content-security-policy']) {
    expect([name, head.headers[name]]).toEqual([name, whole.headers[name]]);
  }
  expect(Number(head.headers['content-length'])).toBe(Buffer.byteLength(whole.body));
});

test.each(['/docs', MAIN])('%s is not sent again to who has it', async (path) => {
  const { etag = '' } = (await ask(path)).headers;
  const same = await ask(path, { headers: { 'If-None-Match': etag } });
  expect(same).toMatchObject({ status: 304, body: '', headers: { etag } });
  expect((await ask(path, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200);
});

test.each([
  ['/', '/docs'],
  ['/docs/', '/docs'],
  ['/?from=mail', '/docs'],
])('%s leads to the page, also behind a proxy that takes a prefix away', async (path, page) => {
  for (const method of ['GET', 'HEAD']) {
    const { status, headers, body: sent } = await ask(path, { method });
    expect({ status, sent }).toEqual({ status: 302, sent: '' });
    const { location = '' } = headers;
    expect(new URL(location, `http://host${path}`).pathname).toBe(page);
    expect(new URL(location, `http://host/portal${path}`).pathname).toBe(`/portal${page}`);
  }
  expect((await ask(path, { of: off })).status).toBe(404);
});

test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])(
  '%s is not for it',
  async (method) => {
    for (const path of ['/docs', MAIN]) {
      const answer = await pushTo(path, method);
      expect(answer?.status).toBe(405);
      expect(answer?.headers.get('allow')).toBe('HEAD, GET');
      expect(answer?.envelope()).toMatchObject({ code: 405, reason: 'METHOD_NOT_ALLOWED' });
    }
  },
);

test.each([
  '/docs//',
  '/DOCS',
  '/docs/index.html',
  '/docs/main.js',
  '/docs/shapes.ts',
  '/docs/signing',
  '/docs/signing/README.md',
  `${MAIN}/`,
  MAIN.replace('/docs', '/docs/'),
  MAIN.replace('/docs', '/docs/.'),
  MAIN.replace('/docs', '/docs/signing/..'),
  '/docs/../package.json',
  '/docs/../../package.json',
  '/docs/%2e%2e/package.json',
  '/docs/..%2fpackage.json',
  MAIN.replace('docs/', 'docs%2F'),
  MAIN.replace('.', '%2e'),
  `${MAIN}%00`,
  `${MAIN};a`,
  MAIN.replace('docs/', 'docs\\'),
  '/docs/%zz',
  '/docs/__proto__',
  '/docs/constructor',
  '/docs/demo.json',
])('%s is not there', async (target) => {
  const answer = await pushTo(target);
  expect(answer?.status).toBe(404);
  expect(answer?.envelope()).toMatchObject(NOT_FOUND);
});

test.each(['/docs?lang=zh', `${MAIN}?x=/../y`, 'http://other.example/docs'])(
  '%s is the page all the same',
  async (target) => {
    expect((await pushTo(target))?.status).toBe(200);
  },
);

test('nothing of it is in the push log, and pushes go on beside it', async () => {
  await pushTo('/docs', 'POST');
  await pushTo('/docs/none', 'POST');
  await ask('/docs');
  expect(await entryModel(service.db).countDocuments({})).toBe(0);
  expect((await pushTo('/api/open/matters/upsert', 'POST'))?.envelope()).toMatchObject({ code: 0 });
  expect(await entryModel(service.db).countDocuments({})).toBe(1);
});

test('PAGES=off: there is no page, and no demo', async () => {
  for (const path of [...FILES, '/docs/demo.json']) {
    const { status, body: answer } = await ask(path, { of: off });
    expect([path, status]).toEqual([path, 404]);
    expect(JSON.parse(answer)).toMatchObject(NOT_FOUND);
  }
  expect((await ask('/openapi.json', { of: off })).status).toBe(200);
});

test('DOCS_DEMO=on: the page asks for the demo client, and no cache keeps it', async () => {
  expect((await ask('/docs', { of: demo })).body).toContain('<html data-demo ');
  const { status, headers, body: answer } = await ask('/docs/demo.json', { of: demo });
  expect(status).toBe(200);
  expect(JSON.parse(answer)).toEqual(CLIENT);
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
  expect(headers).not.toHaveProperty('access-control-allow-origin');
});

test('DOCS_DEMO=on: a page of another site, whose name points to this address, does not get the secret', async () => {
  const evil = { of: demo, headers: { Host: 'evil.example' } };
  const { status, body: answer } = await ask('/docs/demo.json', evil);
  expect([status, JSON.parse(answer)]).toMatchObject([404, NOT_FOUND]);
  expect((await ask('/docs', evil)).status).toBe(200);
  for (const Host of ['localhost', '127.0.0.1:3000', '[::1]:3000', 'docs.example']) {
    expect((await ask('/docs/demo.json', { of: demo, headers: { Host } })).status).toBe(200);
  }
});
