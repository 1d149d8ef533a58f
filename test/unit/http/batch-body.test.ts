/** A batch that does not come to its end: its sender is told so, and its handler never runs. */
import { koaHmacAuth } from '../../../src/http/authenticate';
import { createInFlight, koaRawBody } from '../../../src/http/body';
import { createEndRequest } from '../../../src/http/end-request';
import { createLogger } from '../../../src/infra/logger';
import { readBatchLines } from '../../../src/protocol/batch-lines';
import { PushError } from '../../../src/protocol/errors';
import { BATCH } from '../../../src/protocol/paths';
import { createIdSource } from '../../../src/storage/push-log/request-id';
import { aClient } from '../../support/builders';
import { type KoaApp, startKoaApp } from '../../support/koa-app';
import { connectRaw, rawPush } from '../../support/raw-http';
import { resultOf } from '../../support/steps';

const CLIENT = aClient();
const LINE = '{"op":"delete","body":{"externalId":"A"}}\n';
const handled: number[] = [];
let checkReady = () => {};
let app: KoaApp;

beforeAll(async () => {
  const newRequestId = createIdSource().ofRequest;
  const find = async (id: string) => (id === 'oa' ? CLIENT : undefined);
  const auth = {
    clients: { find, findFresh: find, maxSecretCount: () => 2 },
    database: { guard: <T>(call: Promise<T>) => call },
    logRejection: () => undefined,
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
    koaRawBody(createInFlight(10), 2_000, 300),
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
  checkReady = () => {};
});

async function answerTo(body: string, sent = body, clientId = 'oa') {
  const { port } = app;
  const caller = await connectRaw(`http://127.0.0.1:${port}`);
  caller.send(rawPush({ clientId, secret: 'secret', body, sent }));
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
  const answer = await answerTo(LINE.repeat(100), LINE);
  expect(answer).toMatchObject({ code: 413, reason: 'BODY_TOO_LARGE', data: null });
  expect(handled).toEqual([]);
});
