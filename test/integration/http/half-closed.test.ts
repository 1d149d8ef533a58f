/** A caller that closes its sending side after its request gets its answer, on every route. */
import { pushLine, todo } from '../../support/push-bodies';
import { connectRaw, type RawPush, rawPush } from '../../support/raw-http';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

let service: Service;
beforeAll(async () => {
  service = await startService({ metrics: true });
});
afterAll(() => service.stop());

const signed = (target: string, body: string, more: Partial<RawPush> = {}) => {
  const { clientId, secret } = service;
  return rawPush({ clientId, secret, body, target: `/api/open/${target}`, ...more });
};
const bodyOf = (externalId: string) => JSON.stringify(todo(externalId));
const line = (externalId: string) => `${pushLine('upsert', todo(externalId))}\n`;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

/** Sends this, closes the sending side at once, and reads until the service closes the other one. */
async function halfClosed(bytes: string, url = service.urlOf()) {
  const caller = await connectRaw(url);
  caller.socket.end(Buffer.from(bytes, 'latin1'));
  await caller.closed;
  caller.socket.destroy();
  return caller.answers();
}

test.each<[string, () => string]>([
  ['a push', () => signed('matters/upsert', bodyOf('HALF'))],
  [
    'a push of HTTP/1.0',
    () => signed('matters/upsert', bodyOf('HALF-10'), { version: 'HTTP/1.0' }),
  ],
  ['a batch', () => signed('matters/batch', line('HALF-1') + line('HALF-2'))],
  ['a dry run', () => signed('verify', `{"operation":"upsert","push":${bodyOf('DRY')}}`)],
  ['a query', () => signed('matters/get', '{"externalIds":["HALF"]}')],
  ['a list of ids', () => signed('matters/orphans', '"HALF"\n')],
  ['a look at the log', () => signed('push-logs/query', '{}')],
  ['the document', () => get('/openapi.json')],
  ['the console', () => get('/console')],
])('%s is answered', async (_what, bytes) => {
  const [answer, ...more] = await halfClosed(bytes());
  expect(answer?.status).toBe(200);
  expect(more).toEqual([]);
});

/** A server that takes two seconds for an answer makes a process unready for a moment, and that is an answer as well. */
test('readiness is answered', async () => {
  await until('readiness', async () => {
    const answers = await halfClosed(get('/readyz'));
    expect(answers).toHaveLength(1);
    return answers[0]?.status === 200;
  });
});

test('a rejected push is answered, too', async () => {
  const [answer] = await halfClosed(signed('matters/status', '{"externalId":"NONE"}'));
  expect(answer?.envelope()).toMatchObject({ reason: 'MATTER_NOT_FOUND' });
});

test('all of several requests on one connection are answered', async () => {
  const bytes = [1, 2, 3].map((n) => signed('matters/upsert', bodyOf(`PIPELINED-${n}`)));
  const answers = await halfClosed(bytes.join(''));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});

test.each(['/readyz', '/metrics', '/status'])('the internal port answers %s', async (path) => {
  for (const url of service.metricsUrls) {
    await until(`200 from ${path}`, async () => {
      const caller = await connectRaw(url);
      caller.socket.end(get(path));
      await caller.closed;
      expect(caller.received()).toMatch(/^HTTP\/1.1 (200|503) /);
      return caller.received().startsWith('HTTP/1.1 200 ');
    });
  }
});
