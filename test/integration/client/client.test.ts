/** The client and the service: every operation, a lost answer, and the order of each matter. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { matterModel } from '../../../src/storage/ledger/matters';
import {
  createMatterPushClient,
  type MatterPushClient,
  MatterPushError,
} from '../../../tools/client/matter-push-client';
import { todo } from '../../support/push-bodies';
import { type Service, startService } from '../../support/service';

let service: Service;
let client: MatterPushClient;
beforeAll(async () => {
  service = await startService({ webs: 2, workers: 2 });
  client = connect(service.urlOf());
});
afterAll(async () => {
  await client?.close();
  await service?.stop();
});

const connect = (url: string) =>
  createMatterPushClient({ url, clientId: service.clientId, secret: service.secret });
const assigned = (externalId: string) =>
  todo(externalId, {
    title: `审批 ${externalId}`,
    parties: [{ username: 'alice', partyRole: 'ASSIGNEE' as const }],
  });
const logOf = async (externalId: string) => {
  const { entries } = await client.query('push-logs/query', { externalId, includeBody: true });
  return [...entries].reverse();
};

test('every operation is answered with what became of it', async () => {
  const created = await client.upsert(assigned('ALL'), { idempotencyKey: 'ALL/1' });
  expect(created).toEqual({
    matterId: expect.stringMatching(/^\d+$/),
    externalId: 'ALL',
    outcome: 'CREATED',
    requestId: expect.stringMatching(/^[0-9a-f]{24}$/),
    replayed: false,
    tries: 1,
  });
  const { matterId } = created;
  expect(await client.upsert(assigned('ALL'), { idempotencyKey: 'ALL/1' })).toMatchObject({
    ...{ matterId, outcome: 'CREATED', replayed: true },
  });
  const odd = await client.status({ externalId: 'ALL', bizStatus: 'ODD' });
  expect(odd).toMatchObject({ outcome: 'UPDATED', warnings: [{ field: 'bizStatus' }] });
  expect(await client.reopen({ externalId: 'ALL' })).toMatchObject({ outcome: 'UPDATED' });
  // Another body than that of the reopening: in the same second the two would have one signature.
  const removed = await client.delete({ externalId: 'ALL', sourceUpdatedAt: Date.now() });
  expect(removed).toMatchObject({ matterId, outcome: 'DELETED' });
  const operations = (await logOf('ALL')).map(({ operation, state }) => `${operation} ${state}`);
  expect(operations).toEqual([
    'upsert PERSISTED',
    'upsert REPLAYED',
    'status PERSISTED',
    'reopen PERSISTED',
    'delete PERSISTED',
  ]);
});

test('a notice without an id gets one', async () => {
  const { externalId } = await client.upsert({ matterType: 'NOTICE', title: 'news' });
  expect(externalId).toMatch(/^auto:/);
});

test('a rejection is an error that says everything', async () => {
  const bad = client.upsert({ ...assigned('BAD'), title: '', pcUrl: 'javascript:0' });
  await expect(bad).rejects.toBeInstanceOf(MatterPushError);
  await expect(bad).rejects.toMatchObject({
    ...{ code: 400, reason: 'VALIDATION_FAILED', retryable: false, tries: 1 },
    requestId: expect.stringMatching(/^[0-9a-f]{24}$/),
    errors: [{ field: 'title' }, { field: 'pcUrl' }],
  });
  await expect(client.delete({ externalId: 'NONE' })).rejects.toMatchObject({
    ...{ code: 404, reason: 'MATTER_NOT_FOUND' },
  });
});

test('a dry run passes or is rejected, and nothing is written', async () => {
  expect(await client.verify('upsert', assigned('DRY'))).toEqual({
    ...{ valid: true, externalId: 'DRY', warnings: [] },
  });
  await expect(client.verify('status', { externalId: '' })).rejects.toMatchObject({
    reason: 'VALIDATION_FAILED',
    errors: [{ field: 'externalId' }],
  });
  expect(await client.query('matters/get', { externalIds: ['DRY'] })).toEqual({
    ...{ matters: [], missing: ['DRY'] },
  });
  expect(await logOf('DRY')).toEqual([]);
});

test('the answers to queries have types', async () => {
  await client.upsert(assigned('TYPED'));
  const { matters, missing } = await client.query('matters/get', { externalIds: ['TYPED', 'NO'] });
  expect([matters.map(({ title, phase }) => [title, phase]), missing]).toEqual([
    [['审批 TYPED', 'OPEN']],
    ['NO'],
  ]);
  const lines = [{ externalId: 'TYPED', bizStatus: 'DONE' }];
  const { differences } = await client.query('matters/diff', { lines });
  expect(differences.map(({ here }) => here?.bizStatus)).toEqual(['PENDING']);
  const { watermark } = await client.query('matters/query', { limit: 1 });
  expect(Date.parse(watermark)).toBeGreaterThan(0);
  const { buckets, total } = await client.query('matters/digest', {});
  expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(total.count);
});

/** Passes requests on to the service, and loses its first answers. */
async function startLossyProxy(lost: number): Promise<{ server: Server; url: string }> {
  let left = lost;
  const pass = async (incoming: IncomingMessage) => {
    const body = await buffer(incoming);
    const { method, headers } = incoming;
    const sent = request(service.urlOf() + incoming.url, { method, headers, agent: false });
    const [answer] = (await once(sent.end(body), 'response')) as [IncomingMessage];
    return { answer, text: await buffer(answer) };
  };
  const server = createServer(async (incoming, response) => {
    const { answer, text } = await pass(incoming);
    left -= 1;
    if (left >= 0) incoming.socket.destroy();
    else response.writeHead(Number(answer.statusCode), answer.headers).end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('answers that got lost are asked for again: one effect', async () => {
  const { server, url } = await startLossyProxy(2);
  const lossy = connect(url);
  try {
    const result = await lossy.upsert(assigned('LOST'));
    expect(result).toMatchObject({ outcome: 'CREATED', replayed: true, tries: 3 });
    const matters = await matterModel(service.db).find({ externalId: 'LOST' }).lean();
    expect(matters).toHaveLength(1);
    expect(matters[0]?.revision).toBe(1);
    expect((await logOf('LOST')).map(({ state }) => state)).toEqual([
      'PERSISTED',
      'REPLAYED',
      'REPLAYED',
    ]);
  } finally {
    await lossy.close();
    server.closeAllConnections();
    server.close();
  }
});

test('the pushes of a matter are applied in the order of the calls, whatever else goes on', async () => {
  const ids = ['O-1', 'O-2', 'O-3', 'O-4', 'O-5'];
  await Promise.all(ids.map((id) => client.upsert(assigned(id))));
  const calls = Array.from({ length: 150 }, (_, n) =>
    client.status({ externalId: String(ids[n % ids.length]), externalStatusCode: String(n) }),
  );
  const results = await Promise.all(calls);
  expect(results.every(({ outcome }) => outcome === 'UPDATED')).toBe(true);
  for (const [index, id] of ids.entries()) {
    const codes = (await logOf(id)).slice(1).map(({ body }) => {
      return Number(JSON.parse(String(body)).externalStatusCode);
    });
    expect(codes).toEqual(Array.from({ length: 30 }, (_, n) => n * ids.length + index));
    const matter = await matterModel(service.db).findOne({ externalId: id }).lean();
    expect(matter?.externalStatusCode).toBe(String(145 + index));
  }
});
