/** The internal port answers only those that mean it: a page of another site may bring its own name for it. */
import { request } from 'node:http';
import type { LineKind } from '../../../src/infra/folded-log';
import { type MetricsEndpoint, serveMetrics } from '../../../src/observability/metrics/endpoint';
import { isAcceptedHost } from '../../../src/protocol/headers';

test.each([
  ...['127.0.0.1', '127.0.0.1:9464', '10.1.2.3:9464', '[::1]:9464', '[fe80::1]'],
  ...['localhost', 'LOCALHOST:9464', 'localhost.:9464', 'worker-1', 'Worker-1:9464'],
])('the host "%s" is accepted', (host) => {
  expect(isAcceptedHost(host, 'worker-1')).toBe(true);
});

test.each([
  ...['evil.example', 'evil.example:9464', '127.0.0.1.evil.example', 'localhost.evil.example'],
  ...['evil.example@127.0.0.1', '127.0.0.1,evil.example', '[evil.example]', '127.1', ':9464', ''],
  ...['worker-2:9464', 'worker-1:9464:1', 'worker-1:x', '::1'],
])('the host "%s" is not accepted', (host) => {
  expect(isAcceptedHost(host, 'worker-1')).toBe(false);
});

describe('the port', () => {
  const told: LineKind[] = [];
  let endpoint: MetricsEndpoint;
  beforeAll(async () => {
    const pages = { contentType: 'text/plain', text: async () => '', isReady: async () => true };
    const operatorPage = { handles: (path: string) => path === '/status', handle: () => undefined };
    const log = (kind: LineKind) => void told.push(kind);
    endpoint = await serveMetrics(pages, { host: '127.0.0.1', port: 0, operatorPage, log });
  });
  afterAll(() => endpoint.close());

  const ask = (path: string, Host: string) =>
    new Promise<{ status: number | undefined; headers: object }>((resolve, reject) => {
      const sent = request(new URL(path, endpoint.url), { agent: false, headers: { Host } });
      sent.once('error', reject).once('response', (answer) => {
        answer.resume();
        resolve({ status: answer.statusCode, headers: answer.headers });
      });
      sent.end();
    });

  test.each(['/metrics', '/healthz', '/readyz', '/status', '/nothing'])(
    '%s under the name of another site is rejected, and that is logged in folded lines',
    async (path) => {
      told.length = 0;
      expect(await ask(path, 'evil.example')).toMatchObject({ status: 421 });
      expect(told).toMatchObject([{ level: 'warn', reason: 'HOST_NOT_ACCEPTED' }]);
    },
  );

  test('its answers are not kept, and never taken for another type', async () => {
    for (const path of ['/metrics', '/healthz', '/nothing']) {
      expect((await ask(path, 'localhost')).headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
    }
  });
});
