/** The OpenAPI document as it is served, and the running service held against it. */
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { sign } from '../../../src/protocol/signature';
import { problemsOf, resolve, type Schema } from '../../support/json-schema';
import type { OpenApi } from '../../support/openapi';
import type { PushOptions } from '../../support/pusher';
import { type Service, startService } from '../../support/service';

const PATH = '/openapi.json';

let service: Service;
let document: OpenApi;
beforeAll(async () => {
  service = await startService({ env: { RATE_LIMIT: '1000', RATE_BURST: '1000' } });
  document = JSON.parse((await ask('GET')).body);
});
afterAll(() => service.stop());

/** Signed only where the headers are. */
async function ask(
  method: string,
  headers: Readonly<Record<string, string>> = {},
  path = PATH,
  sent?: string,
) {
  const res = await new Promise<IncomingMessage>((taken, failed) => {
    request(service.urlOf() + path, { method, headers, agent: false }, taken)
      .on('error', failed)
      .end(sent);
  });
  return { status: res.statusCode, headers: res.headers, body: await text(res) };
}

test('anybody gets the content of docs/openapi.json', async () => {
  const { status, headers, body } = await ask('GET');
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(headers['cache-control']).toBe('public, max-age=300');
  const file = readFileSync(join(__dirname, '../../../docs/openapi.json'), 'utf8');
  expect(body === JSON.stringify(JSON.parse(file))).toBe(true);
});

test('HEAD has the same headers and no body', async () => {
  const whole = await ask('GET');
  const head = await ask('HEAD');
  expect(head).toMatchObject({ status: 200, body: '' });
  for (const name of ['etag', 'content-type', 'cache-control', 'content-length']) {
    expect(head.headers[name]).toBe(whole.headers[name]);
  }
  expect(Number(head.headers['content-length'])).toBe(Buffer.byteLength(whole.body));
});

test.each(['GET', 'HEAD'])('%s with its ETag is told that nothing has changed', async (method) => {
  const { etag = '' } = (await ask('GET')).headers;
  const same = await ask(method, { 'If-None-Match': etag });
  expect(same).toMatchObject({ status: 304, body: '', headers: { etag } });
  expect((await ask(method, { 'If-None-Match': '"another"' })).status).toBe(200);
});

test('other methods get the envelope', async () => {
  const { status, headers, body } = await ask('POST');
  expect(JSON.parse(body)).toMatchObject({ code: 405, reason: 'METHOD_NOT_ALLOWED' });
  expect(status).toBe(405);
  expect(headers.allow).toBe('HEAD, GET');
});

test('a body that nobody reads is not taken for the next request', async () => {
  const { status, headers } = await ask('GET', { 'Content-Length': '5' });
  expect({ status, connection: headers.connection }).toEqual({ status: 200, connection: 'close' });
});

/** The schema of what an operation answers with a status. @throws where it is not told */
function schemaOf(path: string, method: string, status: number): Schema {
  const response = document.paths[path]?.[method]?.responses[status];
  if (!response) throw new Error(`${method} ${path} is not told to answer ${status}`);
  const told = '$ref' in response ? resolve(document, response.$ref) : response;
  const { content } = told as { content: Record<string, { schema: Schema }> };
  const [media] = Object.values(content);
  return media?.schema ?? {};
}

/** Sends to `path` below the base path and holds the answer against the document. */
async function told(name: string, body: unknown, status: number, more?: Partial<PushOptions>) {
  const path = `/api/open/${name}`;
  const {
    headers,
    status: answered,
    ...envelope
  } = await service.push('', body, { path, ...more });
  expect({ answered, ...envelope }).toMatchObject({ answered: status });
  const schema = schemaOf(path, 'post', status);
  expect(problemsOf(schema, envelope, { document, closed: true })).toEqual([]);
  return headers;
}

const todo = {
  matterType: 'TODO',
  externalId: 'API-1',
  title: '审批',
  deadlineAt: '2030-01-01T00:00:00',
  sourceUpdatedAt: '2026-01-02T00:00:00Z',
  parties: [{ username: 'alice', partyRole: 'ASSIGNEE' }],
};

test('answers of the service are as it says, field by field', async () => {
  const idempotencyKey = 'API-1/1';
  await told('matters/upsert', todo, 200, { idempotencyKey });
  const replayed = await told('matters/upsert', todo, 200, { idempotencyKey });
  expect(replayed).toMatchObject({ 'idempotency-replayed': 'true', ratelimit: expect.any(String) });
  await told('matters/status', { externalId: 'API-1', bizStatus: 'ODD' }, 200);
  await told('matters/upsert', { ...todo, sourceUpdatedAt: 1 }, 200);
  await told('matters/reopen', { externalId: 'API-1' }, 200);
  await told('matters/delete', { externalId: 'API-1', why: 'another signature' }, 200);
  await told('matters/upsert', { ...todo, externalId: 'API-2', title: '' }, 400);
  await told('verify', { operation: 'upsert', push: todo }, 200);
  await told('push-logs/resend', { requestIds: ['f'.repeat(24)] }, 207);
  await told('push-logs/query', { count: true, includeBody: true }, 200);
  await told('push-logs/failures', {}, 200);
  await told('push-logs/stats', { by: 'minute' }, 200);
  await told('matters/get', { externalIds: ['API-1', 'API-9'] }, 200);
  await told('matters/query', { limit: 9 }, 200);
  await told('matters/diff', { lines: [{ externalId: 'API-1' }, { externalId: 'API-9' }] }, 200);
  await told('matters/digest', { open: false }, 200);
  await told('users/check', { usernames: ['alice', 'nobody'] }, 200);
  await told('clients/me', {}, 200);
});

test.each<[string, string, unknown, number, Partial<PushOptions>]>([
  [
    'an unknown user',
    'matters/upsert',
    { ...todo, parties: [{ username: 'x', partyRole: 'CC' }] },
    400,
    {},
  ],
  ['no JSON', 'matters/status', 'x', 400, {}],
  ['no operation', 'verify', { push: todo }, 400, {}],
  ['no JSON', 'matters/get', 'y', 400, {}],
  ['a wrong secret', 'matters/query', {}, 401, { secret: 'wrong' }],
  ['no signature', 'matters/delete', {}, 401, { headers: { 'X-Signature': undefined } }],
  ['no such matter', 'matters/reopen', { externalId: 'NONE' }, 404, {}],
  ['too long a body', 'matters/digest', 'x'.repeat(1_048_577), 413, {}],
  ['a compressed body', 'matters/diff', '', 415, { headers: { 'Content-Encoding': 'gzip' } }],
])('%s is rejected as it says: %s', async (_, name, body, status, more) => {
  await told(name, body, status, more);
});

test.each(['/healthz', '/readyz'])('%s is as it says', async (path) => {
  const { status, body } = await ask('GET', {}, path);
  const schema = schemaOf(path, 'get', Number(status));
  expect(problemsOf(schema, JSON.parse(body), { document, closed: true })).toEqual([]);
});

test('the lines of the orphans are as it says', async () => {
  await service.push('upsert', { ...todo, externalId: 'API-3' });
  const path = '/api/open/matters/orphans';
  const { contentSchema } = schemaOf(path, 'post', 200) as { contentSchema: { items: Schema } };
  const lines = await orphans(path, '"API-1"\n');
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) {
    expect(problemsOf(contentSchema.items, line, { document, closed: true })).toEqual([]);
  }
});

async function orphans(path: string, list: string): Promise<unknown[]> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const { clientId, secret } = service;
  const signature = sign(secret, clientId, timestamp, list);
  const headers = { 'X-Client-Id': clientId, 'X-Timestamp': timestamp, 'X-Signature': signature };
  const { body } = await ask('POST', headers, path, list);
  return body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
