/** What is answered to one caller is not kept by a cache, and never taken for another type. */
import { sign } from '../../../src/protocol/signature';
import { connectRaw } from '../../support/raw-http';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});
afterAll(() => service.stop());

const UPSERT = { matterType: 'TODO', externalId: 'H-1', title: 'x' };
const LINE = JSON.stringify({ op: 'upsert', body: { ...UPSERT, externalId: 'H-2' } });

const signed = (path: string, body: string) => () => {
  const { clientId, secret } = service;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = {
    'X-Client-Id': clientId,
    'X-Timestamp': timestamp,
    'X-Signature': sign(secret, clientId, timestamp, body),
  };
  return fetch(service.urlOf() + path, { method: 'POST', headers, body });
};
const plain =
  (path: string, init: RequestInit = {}) =>
  () =>
    fetch(service.urlOf() + path, init);

/** A server that takes two seconds for an answer makes a process unready for a moment. */
const ready = () =>
  until('readiness', async () => {
    const answer = await plain('/readyz')();
    if (answer.status === 200) return answer;
    await answer.arrayBuffer();
    return false;
  });

test.each<[string, number, () => Promise<Response>]>([
  ['a push', 200, signed('/api/open/matters/upsert', JSON.stringify(UPSERT))],
  ['a rejected push', 400, signed('/api/open/matters/upsert', '{}')],
  ['a batch', 200, signed('/api/open/matters/batch', LINE)],
  ['a batch with a failed line', 207, signed('/api/open/matters/batch', `${LINE}\n{}`)],
  ['a query', 200, signed('/api/open/matters/query', '{}')],
  ['an answer of many lines', 200, signed('/api/open/matters/orphans', '"H-1"')],
  ['an unsigned request', 401, plain('/api/open/matters/upsert', { method: 'POST', body: '{}' })],
  ['an unknown path', 404, plain('/nowhere')],
  ['a wrong method', 405, plain('/api/open/matters/upsert')],
  ['the readiness', 200, ready],
])('%s: no-store and nosniff', async (_what, status, send) => {
  const answer = await send();
  await answer.arrayBuffer();
  expect(answer.status).toBe(status);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
});

test('bytes that are no request: no-store and nosniff', async () => {
  const caller = await connectRaw(service.urlOf());
  caller.send('NONSENSE\r\n\r\n');
  const [answer] = await caller.untilAnswers(1);
  caller.socket.destroy();
  expect(answer?.status).toBe(400);
  expect(answer?.headers.get('cache-control')).toBe('no-store');
  expect(answer?.headers.get('x-content-type-options')).toBe('nosniff');
});

test('the document of the interface may be cached, and is never taken for another type', async () => {
  const answer = await fetch(`${service.urlOf()}/openapi.json`);
  await answer.text();
  expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
});
