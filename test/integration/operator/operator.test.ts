/** The operator's screen on the internal port: what it tells, and who may pause a client there. */
import { readFile } from 'node:fs/promises';
import type { OperatorStatus } from '../../../src/operator/screen';
import { createAuditTrail } from '../../../src/storage/audit';
import { clientModel } from '../../../src/storage/directory/client-model';
import { startProxy, type TcpProxy } from '../../../tools/harness/proxy';
import { connectRaw } from '../../support/raw-http';
import { type Service, startService, testServers } from '../../support/service';
import { until } from '../../support/wait';

const TOKEN = 'a-token-of-more-than-32-characters-0';
/** Milliseconds: longer than any answer may take, also on a machine that stands still for seconds. */
const TIMEOUT = 60_000;

let service: Service;
let mongo: TcpProxy;
let redis: TcpProxy;
beforeAll(async () => {
  const { mongoUrl, redisUrl } = testServers();
  const [toMongo, toRedis] = [new URL(mongoUrl), new URL(redisUrl)];
  mongo = await startProxy(Number(toMongo.port), toMongo.hostname);
  redis = await startProxy(Number(toRedis.port), toRedis.hostname);
  toMongo.host = `127.0.0.1:${mongo.port}`;
  toRedis.host = `127.0.0.1:${redis.port}`;
  const servers = { mongoUrl: toMongo.href, redisUrl: toRedis.href };
  service = await startService({ ...servers, metrics: true, env: { OPERATOR_TOKEN: TOKEN } });
});
afterAll(async () => {
  await service?.stop();
  mongo?.close();
  redis?.close();
});

const at = (place: string, number = 0) => new URL(place, String(service.metricsUrls[number])).href;
const ask = (place: string, init: RequestInit = {}, number = 0) =>
  fetch(at(place, number), { ...init, signal: AbortSignal.timeout(TIMEOUT) });
const look = async (number = 0): Promise<OperatorStatus> =>
  (await ask('/status', {}, number)).json() as Promise<OperatorStatus>;
const seen = <T>(what: string, find: (status: OperatorStatus) => T | undefined | false) =>
  until(what, async () => find(await look()));
const change = async (
  what: 'pause' | 'resume',
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
) => {
  const answer = await ask(`/operator/${what}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${TOKEN}`,
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, ...((await answer.json()) as { reason?: string }) };
};
const entries = () => createAuditTrail(service.db, Date.now).list({}, 10);
const pauseOf = async () =>
  (await clientModel(service.db).findById(service.clientId).lean())?.paused;
const wish = () => ({ clientId: service.clientId, operator: 'ada', reason: 'month end' });

test('it tells what matterctl status tells, the last hour, and which process says so', async () => {
  await service.push('upsert', { matterType: 'TODO', externalId: 'O-1', title: 'x' });
  await service.push('status', { externalId: 'NONE', bizStatus: 'DONE' });
  const status = await seen('both pushes', ({ history, processes, ...rest }) => {
    const sum = (kind: 'written' | 'rejected') =>
      history.minutes?.reduce((all, minute) => all + minute[kind], 0);
    const isCounted = sum('written') === 1 && sum('rejected') === 1;
    // After a stall of the machine, the page shows for a moment that a server did not answer or that a push waited.
    const isQuiet =
      [rest.stuck, rest.alerts].every((list) => list?.length === 0) &&
      rest.servers.every(({ isReachable }) => isReachable);
    return (
      isCounted &&
      isQuiet &&
      history.queue.length > 0 &&
      processes?.length === 2 && { history, processes, ...rest }
    );
  });
  expect(status.process).toMatch(/^web-/);
  expect(status.processes?.map(({ type }) => type).sort()).toEqual(['web', 'worker']);
  expect(status.servers.map(({ isReachable }) => isReachable)).toEqual([true, true]);
  expect(status).toMatchObject({ canChange: true, stuck: [], alerts: [] });
  expect(status.history.minutes).toHaveLength(60);
  expect(status.history.queue.length).toBeGreaterThan(0);
  expect(status.history.marks).toContainEqual(expect.objectContaining({ kind: 'start' }));
  expect((await look(1)).process).toMatch(/^worker-/);
});

test('it is no secret of its own, may not be put into another page, and is read only', async () => {
  const { headers } = await ask('/status');
  expect(headers.get('access-control-allow-origin')).toBeNull();
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  const [main = ''] = /operator\/main-\w+\.js/.exec(await (await ask('/')).text()) ?? [];
  expect((await ask(`/${main}`)).status).toBe(200);
  for (const place of ['/', '/status', `/${main}`]) {
    expect((await ask(place, { method: 'POST' })).status).toBe(405);
  }
  expect((await ask('/operator/pause')).status).toBe(405);
  const text = await (await ask('/status')).text();
  expect(text).not.toContain(TOKEN);
  expect(text).not.toMatch(/sealed|secrets/);
  expect((await fetch(`${service.urlOf()}/status`)).status).toBe(404);
});

test('it serves the runbook of alerts, which loads nothing from elsewhere and runs no script', async () => {
  const answer = await ask('/manual/alerts.html');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(answer.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'/,
  );
  expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin');
  const html = await answer.text();
  expect(html).toContain('<h3 id="matterpushnoworker">');
  const [style = ''] = /main-\w+\.css/.exec(html) ?? [];
  expect((await ask(`/manual/${style}`)).status).toBe(200);
  expect((await ask('/manual/runbook.html', {}, 1)).status).toBe(200);
  expect((await ask('/manual/alerts.html', { method: 'POST' })).status).toBe(405);
  for (const place of ['/manual/', '/manual/alerts.md', '/manual/..%2foperator%2fmain.css']) {
    expect((await ask(place)).status).toBe(404);
  }
  // Callers do not get it.
  expect((await fetch(`${service.urlOf()}/manual/alerts.html`)).status).toBe(404);
});

test.each<[string, Readonly<Record<string, string>>, number, string]>([
  ['no token', { Authorization: '' }, 401, 'TOKEN_MISSING'],
  ['another scheme', { Authorization: `Basic ${TOKEN}` }, 401, 'TOKEN_MISSING'],
  ['a wrong token', { Authorization: `Bearer ${TOKEN}x` }, 401, 'TOKEN_WRONG'],
  ['a page of another site', { 'Sec-Fetch-Site': 'cross-site' }, 403, 'CROSS_SITE'],
  ['a page of a neighbour', { 'Sec-Fetch-Site': 'same-site' }, 403, 'CROSS_SITE'],
  ['another origin', { Origin: 'http://elsewhere.test' }, 403, 'CROSS_SITE'],
  ['no origin', { Origin: 'null' }, 403, 'CROSS_SITE'],
  ['a form', { 'Content-Type': 'text/plain' }, 415, 'NOT_JSON'],
])('with %s nothing is changed', async (_what, headers, status, reason) => {
  expect(await change('pause', wish(), headers)).toMatchObject({ status, reason });
  expect(await pauseOf()).toBeUndefined();
  expect(await entries()).toEqual([]);
});

test.each([
  ['no JSON', '{'],
  ['nobody', { operator: ' ' }],
  ['no client', { clientId: '' }],
  ['an endless reason', { reason: 'x'.repeat(201) }],
  ['an endless body', { more: 'x'.repeat(10_000) }],
])('with %s it is a bad request', async (_what, body) => {
  const asked = typeof body === 'string' ? body : { ...wish(), ...body };
  expect(await change('pause', asked)).toMatchObject({ status: 400, reason: 'BAD_REQUEST' });
  expect(await entries()).toEqual([]);
});

test('a client is paused and resumed, and the audit trail and the screen say by whom', async () => {
  expect(await change('pause', wish())).toMatchObject({ status: 200, paused: true });
  const paused = await seen('the pause', ({ clients, history }) => {
    const isPaused = clients?.[0]?.paused?.reason === 'month end';
    return isPaused && history;
  });
  expect(paused.marks).toContainEqual(
    expect.objectContaining({ kind: 'audit', operator: 'ada', command: 'queue pause' }),
  );
  expect(await change('resume', { ...wish(), reason: undefined })).toMatchObject({ status: 200 });
  expect(await pauseOf()).toBeUndefined();
  const [resumed, began] = await entries();
  const about = { operator: 'ada', clientId: service.clientId, outcome: 'DONE' };
  expect(began).toMatchObject({
    ...about,
    command: 'queue pause',
    details: { reason: 'month end' },
  });
  expect(resumed).toMatchObject({ ...about, command: 'queue resume', details: {} });
});

test('an unknown client is told, and so is the failure in the trail', async () => {
  const unknown = { clientId: 'nobody', operator: 'ada' };
  expect(await change('pause', unknown)).toMatchObject({ status: 400, reason: 'NOT_POSSIBLE' });
  expect((await entries())[0]).toMatchObject({ subject: 'nobody', outcome: 'FAILED' });
});

test('while a server is away the rest is told, in time, and which one it is', async () => {
  redis.close();
  const without = await seen(
    'Redis to be away',
    (status) => !status.servers[1]?.isReachable && status.clients !== null && status,
  );
  expect(without).toMatchObject({ processes: null, partitions: null, stuck: null });
  expect(without.clients).toHaveLength(1);
  expect(without.alerts).toMatchObject([{ name: 'MatterPushServerDown', about: 'redis' }]);
  await redis.open();
  await seen(
    'Redis to be back',
    ({ servers, partitions }) => servers[1]?.isReachable && partitions,
  );
  mongo.close();
  const other = await seen(
    'MongoDB to be away',
    (status) => !status.servers[0]?.isReachable && status.partitions !== null && status,
  );
  expect(other).toMatchObject({ clients: null, resendable: null });
  expect(other.partitions).not.toBeNull();
  await seen('the trail to be away', ({ history }) => !history.hasAudit);
  expect((await change('pause', wish())).status).toBe(503);
  await mongo.open();
  const back = await seen('MongoDB to be back', (status) => {
    const marks = status.history.marks.filter(({ kind }) => kind === 'outage');
    return status.servers[0]?.isReachable && marks.length > 1 && status;
  });
  expect(back.clients?.[0]?.paused ?? null).toBeNull();
});

test('ten wrong tokens do not lock out the right one, and they are logged in folded lines', async () => {
  const wrong = { Authorization: `Bearer ${'x'.repeat(40)}` };
  await until('the end of tries', async () => {
    const { reason } = await change('pause', wish(), wrong);
    return reason === 'TOO_MANY_TRIES';
  });
  // MongoDB has come back just now: a change may not be confirmed yet.
  await until('a pause', async () => (await change('pause', wish())).status === 200);
  expect(await pauseOf()).toBeDefined();
  await until('a resume', async () => (await change('resume', wish())).status === 200);
  const log = await readFile(String(service.webs[0]?.logFile), 'utf8');
  for (const reason of ['TOKEN_WRONG', 'TOO_MANY_TRIES']) {
    expect(log).toMatch(new RegExp(`"reason":"${reason}".*"operator request rejected"`));
  }
  expect(log).not.toContain('x'.repeat(40));
});

test('under the name of another site nothing is shown', async () => {
  const { port } = new URL(at('/'));
  const caller = await connectRaw(at('/'));
  caller.send(`GET /status HTTP/1.1\r\nHost: evil.example:${port}\r\n\r\n`);
  const [answer] = await caller.untilAnswers(1);
  caller.socket.destroy();
  expect(answer?.status).toBe(421);
  expect(answer?.body).not.toContain(service.clientId);
  await until('the line about it', async () => {
    const log = await readFile(String(service.webs[0]?.logFile), 'utf8');
    return log.includes('"reason":"HOST_NOT_ACCEPTED"');
  });
});

test('without OPERATOR_TOKEN nothing can be changed, and the screen says so', async () => {
  const plain = await startService({ workers: 0, metrics: true });
  try {
    const url = String(plain.metricsUrls[0]);
    const status = (await (await fetch(new URL('/status', url))).json()) as OperatorStatus;
    expect(status.canChange).toBe(false);
    const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer ' };
    const refused = await fetch(new URL('/operator/pause', url), { method: 'POST', headers });
    expect([refused.status, await refused.json()]).toMatchObject([404, { reason: 'CHANGES_OFF' }]);
  } finally {
    await plain.stop();
  }
});
