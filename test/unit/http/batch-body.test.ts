/** A batch that does not come to its end: its sender is told so, and its handler never runs. */
import { createHash } from 'node:crypto';
import { koaHmacAuth } from '../../../src/http/authenticate';
import { createInFlight, koaRawBody } from '../../../src/http/body';
import { createEndRequest } from '../../../src/http/end-request';
import { createLogger } from '../../../src/infra/logger';
import { readBatchLines } from '../../../src/protocol/batch-lines';
import { PushError } from '../../../src/protocol/errors';
import { BATCH } from '../../../src/protocol/paths';
import type { LoggedRejection } from '../../../src/pushes/rejections';
import { createIdSource } from '../../../src/storage/push-log/request-id';
import { aClient } from '../../support/builders';
import { type KoaApp, startKoaApp } from '../../support/koa-app';
import { connectRaw, rawPush } from '../../support/raw-http';
import { resultOf } from '../../support/steps';

const CLIENT = aClient();
const MAX_BODY = 200_000;
const LINE = '{"op":"delete","body":{"externalId":"A"}}\n';
const handled: number[] = [];
const rejections: LoggedRejection[] = [];
let checkReady = () => {};
let app: KoaApp;

beforeAll(async () => {
  const newRequestId = createIdSource().ofRequest;
  const find = async (id: string) => (id === 'oa' ? CLIENT : undefined);
  const auth = {
    clients: { find, findFresh: find, maxSecretCount: () => 2 },
    database: { guard: <T>(call: Promise<T>) => call },
    logRejection: (rejection: LoggedRejection) => void rejections.push(rejection),
    noteUse: () => undefined,
    checkReady: () => checkReady(),
    newRequestId,
    clock: Date.now,
    timeout: 1_000,
  };
  const listeners = { clock: Date.now, logger: createLogger('test', 'silent') };
  const end = createEndRequest(listeners);
  const answers = { ...listeners, always200: false, pathPrefix: '', end, isLeaving: () => false };
  app = await startKoaApp(
    answers,
    koaRawBody(createInFlight(10), MAX_BODY, 300),
    koaHmacAuth(auth, BATCH),
    ({ state }) => {
      const lines = readBatchLines(state.rawBody, { lines: 10, bodyBytes: 1_000 });
      handled.push(resultOf(lines).length);
      state.data = {};
    },
  );
});
afterAll(() => app.stop());
beforeEach(() => {
  handled.length = 0;
  rejections.length = 0;
  checkReady = () => {};
});

async function answerTo(body: string, sent = body, clientId = 'oa', timestamp?: string) {
  const { port } = app;
  const caller = await connectRaw(`http://127.0.0.1:${port}`);
  const signed = { clientId, secret: 'secret', body, ...(timestamp && { timestamp }) };
  caller.send(rawPush({ ...signed, sent }));
  const [answer] = await caller.untilAnswers(1);
  caller.socket.destroy();
  return answer?.envelope();
}

test('all of it: its lines are handled', async () => {
  expect(await answerTo(LINE.repeat(3))).toMatchObject({ code: 0 });
  expect(handled).toEqual([3]);
});

test.each([['oa'], ['stranger']])('one that stalls: REQUEST_TIMEOUT (%s)', async (clientId) => {
  const body = LINE.repeat(3);
  const answer = await answerTo(body, body.slice(0, 50), clientId);
  expect(answer).toMatchObject({ code: 408, reason: 'REQUEST_TIMEOUT', data: null });
  expect(handled).toEqual([]);
});

test('one that is still arriving when the process begins to drain is not begun', async () => {
  const { port } = app;
  const caller = await connectRaw(`http://127.0.0.1:${port}`);
  const body = LINE.repeat(3);
  caller.send(rawPush({ clientId: 'oa', secret: 'secret', body, sent: body.slice(0, 50) }));
  checkReady = () => {
    throw new PushError('SHUTTING_DOWN');
  };
  caller.send(body.slice(50));
  const [answer] = await caller.untilAnswers(1);
  caller.socket.destroy();
  expect(answer?.envelope()).toMatchObject({ code: 503, reason: 'SHUTTING_DOWN', data: null });
  expect(handled).toEqual([]);
});

test('one that says that it is longer than it may be is not read', async () => {
  const answer = await answerTo(LINE.repeat(MAX_BODY / LINE.length + 1), LINE);
  expect(answer).toMatchObject({ code: 413, reason: 'BODY_TOO_LARGE', data: null });
  expect(handled).toEqual([]);
});

test.each([
  ['an expired timestamp', '1000000000', 'TIMESTAMP_OUT_OF_WINDOW'],
  ['a wrong signature', undefined, 'SIGNATURE_MISMATCH'],
])('with %s, the record of a large batch does not keep its body', async (_, timestamp, reason) => {
  const body = 'x'.repeat(100_000);
  const sent = timestamp ? body : body.replace('x', 'y');
  expect(await answerTo(body, sent, CLIENT.clientId, timestamp)).toMatchObject({ reason });
  const [rejection] = rejections;
  expect(rejection?.body).toBeUndefined();
  const bodyHash = createHash('sha256').update(sent).digest('hex');
  expect(rejection?.entry()).toMatchObject({ bodyHash, bodySize: 100_000, result: reason });
});
