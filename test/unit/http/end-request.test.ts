/** Each request ends once, whatever its answer is. A listener that fails changes no answer. */
import { type IncomingMessage, request } from 'node:http';
import pino from 'pino';
import { createEndRequest, type EndRequest } from '../../../src/http/end-request';
import { startLines } from '../../../src/http/line-answer';
import type { RequestContext } from '../../../src/http/request';
import { type Metrics, NO_METRICS } from '../../../src/observability/metrics';
import { PushError } from '../../../src/protocol/errors';
import { type KoaApp, startKoaApp } from '../../support/koa-app';
import { until } from '../../support/wait';

const ENDED = 'a request ended';
const document = { bytes: Buffer.from('text'), type: 'text/plain', etag: '"1"' };
const logged: Record<string, unknown>[] = [];
/** As metrics see them: path, and outcome or reason. */
const ended: string[] = [];
let isFailing = false;
let goOn = () => {};
let last: () => unknown = () => ({});
let end: EndRequest;
let app: KoaApp;

async function* lines() {
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  yield ['first'];
  await held;
  return last();
}

const routes: Readonly<Record<string, (ctx: RequestContext) => unknown>> = {
  '/data': ({ state }) => Object.assign(state, { data: {} }),
  '/rejected': () => {
    throw new PushError('QUEUE_UNAVAILABLE');
  },
  '/document': ({ state }) => Object.assign(state, { document }),
  '/redirect': ({ state }) => Object.assign(state, { location: 'document' }),
  '/lines': async ({ res, state }) => {
    state.lines = await startLines(res, lines());
  },
};

function note(path: string, result: string): void {
  ended.push(`${path} ${result}`);
  if (isFailing) throw new Error(ENDED);
}
const metrics: Metrics = {
  ...NO_METRICS,
  answered: (path, _receivedAt, outcome) => note(path, outcome),
  rejected: (path, _receivedAt, { reason }) => note(path, reason),
};

beforeAll(async () => {
  const options = {
    ...{ clock: Date.now, always200: false, pathPrefix: '', isLeaving: () => false },
    get end() {
      return end;
    },
  };
  app = await startKoaApp(options, (ctx) => routes[ctx.path]?.(ctx));
});
afterAll(() => app.stop());
beforeEach(() => {
  [isFailing, last] = [false, () => ({})];
  logged.length = 0;
  ended.length = 0;
  // Each logger folds its lines alone.
  const logger = pino({ base: null }, { write: (line) => logged.push(JSON.parse(line)) });
  end = createEndRequest({ clock: Date.now, logger, metrics });
});

const get = (path: string) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const { port } = app;
    request({ port, host: '127.0.0.1', path, agent: false }, resolve).on('error', reject).end();
  });

async function textOf(res: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of res) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const answers: [string, number, string][] = [
  ['/data', 200, '/data ANSWERED'],
  ['/rejected', 503, '/rejected QUEUE_UNAVAILABLE'],
  ['/document', 200, '/document ANSWERED'],
  ['/redirect', 302, '/redirect ANSWERED'],
];

test.each(answers)('%s ends once', async (path, status, noted) => {
  const res = await get(path);
  await textOf(res);
  expect(res.statusCode).toBe(status);
  expect(ended).toEqual([noted]);
});

test.each(answers)('%s has its answer if a listener fails', async (path, status, noted) => {
  isFailing = true;
  const res = await get(path);
  await textOf(res);
  expect(res.statusCode).toBe(status);
  expect(ended).toEqual([noted]);
  expect(logged.map(({ msg, error }) => [msg, String(error)])).toEqual([
    ['unexpected error', expect.stringContaining(ENDED)],
  ]);
});

describe('lines', () => {
  test('end once, with the last one', async () => {
    const res = await get('/lines');
    await new Promise((resolve) => res.once('readable', resolve));
    expect(ended).toEqual([]);
    isFailing = true;
    goOn();
    expect(JSON.parse((await textOf(res)).split('\n')[1] ?? '')).toMatchObject({ code: 0 });
    expect(ended).toEqual(['/lines ANSWERED']);
  });

  test('that fail later are rejected, and not answered too', async () => {
    last = () => {
      throw new PushError('DATABASE_UNAVAILABLE');
    };
    const res = await get('/lines');
    goOn();
    expect(await textOf(res)).toContain('DATABASE_UNAVAILABLE');
    expect(ended).toEqual(['/lines DATABASE_UNAVAILABLE']);
  });

  test('whose client disconnects end at that time, and not again', async () => {
    const res = await get('/lines');
    await new Promise((resolve) => res.once('data', resolve));
    res.destroy();
    await until('the end', async () => ended.length > 0);
    goOn();
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toEqual(['/lines ANSWERED']);
  });
});
