/** What matterctl push learns from a batch that is rejected as a whole: for its lines, and for those behind them. */
import { createGate } from '../../../tools/client/gate';
import { noAnswer, type Rejected, toRejected } from '../../../tools/client/verdict';
import { FileLine } from '../../../tools/matterctl/push/file-line';
import { Pace } from '../../../tools/matterctl/push/pace';
import type { LineEnds } from '../../../tools/matterctl/push/push-work';
import { BatchSender } from '../../../tools/matterctl/push/send-batch';
import type { Sending } from '../../../tools/matterctl/push/sending';
import { Standstill } from '../../../tools/matterctl/push/standstill';
import type { PushTally } from '../../../tools/matterctl/push/tally';

const NOTHING = { errors: [], warnings: [], requestId: 'r1', message: 'no' };
const rejected = (code: number, reason: string, retryable: boolean): Rejected =>
  toRejected({ ...NOTHING, code, reason, retryable }, undefined);
const stop = new AbortController();
afterAll(() => stop.abort());

const fileLine = (number: number) => {
  const body = Buffer.from(JSON.stringify({ externalId: `K${number}`, filler: 'x'.repeat(1_000) }));
  const line = { number, externalId: `K${number}`, op: 'status', body, text: '', key: undefined };
  return new FileLine(line as unknown as FileLine['line'], `run-${number}`, true, () => undefined);
};
const fileLines = Array.from({ length: 200 }, (_, n) => fileLine(n + 1));

/** A run whose service has this verdict on each batch. */
function running(whole: Rejected) {
  let verdict = whole;
  const sent: number[] = [];
  const pace = new Pace({ lines: 200, requests: 2 });
  const reporter = { standing: () => undefined };
  const unused = { sender: {}, reporter, ends: {} as LineEnds };
  const tally = { retried: () => undefined } as unknown as PushTally;
  const standstill = new Standstill(stop.signal);
  const sending = {
    ...{ ...unused, url: '', clientId: 'oa', pace, tally, retries: 3, maxWait: 60_000 },
    tryPushes: async (pushes: readonly unknown[]) => {
      sent.push(pushes.length);
      return { whole: verdict };
    },
    gate: createGate(),
    standstill,
    checkService: async () => 'ready',
    checkPost: async () => 'service',
    stop: stop.signal,
    cut: new AbortController().signal,
  } as unknown as Sending;
  const batches = new BatchSender(sending);
  const answer = (next: Rejected) => {
    verdict = next;
  };
  return { batches, pace, sent, standstill, answer };
}

/** The same of a service that was reached before. */
async function reached(whole: Rejected) {
  const run = running(rejected(400, 'VALIDATION_FAILED', false));
  await run.batches.send(fileLines);
  run.answer(whole);
  return run;
}

test.each([
  ['did not arrive in time', rejected(408, 'REQUEST_TIMEOUT', true)],
  [
    'was not answered in time',
    noAnswer(Object.assign(new Error('x'), { code: 'NO_ANSWER_IN_TIME' })),
  ],
])('one that %s: what follows goes more slowly, then in fewer lines', async (_what, whole) => {
  const { batches, pace } = await reached(whole);
  await batches.send(fileLines);
  expect(pace.limits()).toEqual({ requests: 1, lines: 200 });
  await batches.send(fileLines);
  expect(pace.limits()).toEqual({ requests: 1, lines: 100 });
});

test('an older service, which takes no batches, comes back after a standstill: the run goes on at once', async () => {
  const { batches, standstill, answer } = running(rejected(503, 'DATABASE_UNAVAILABLE', true));
  await batches.send(fileLines);
  expect(standstill.isStanding()).toBe(true);
  const others = standstill.pass(300);
  answer(rejected(404, 'PATH_NOT_FOUND', false));
  const left = await batches.send(fileLines);
  expect(left?.again).toHaveLength(200);
  expect(batches.maxLines()).toBe(1);
  expect(standstill.isStanding()).toBe(false);
  await others;
  // It is there: what comes now may lie in a line.
  answer(rejected(500, 'INTERNAL_ERROR', true));
  const [first = fileLine(1)] = fileLines;
  await batches.send([first]);
  expect(first.counted).toBe(1);
});

test('a connection that breaks says nothing of the pace', async () => {
  const { batches, pace } = await reached(
    noAnswer(Object.assign(new Error('x'), { code: 'ECONNRESET' })),
  );
  await batches.send(fileLines);
  expect(pace.limits()).toEqual({ requests: 2, lines: 200 });
});

test.each([
  ['the service', rejected(413, 'BODY_TOO_LARGE', false)],
  ['a gateway', rejected(413, 'HTTP_413', false)],
])(
  'one that is too large for %s: no later one has more than half of its bytes',
  async (_who, whole) => {
    const { batches, sent } = await reached(whole);
    const bytes = fileLines.reduce((sum, { size }) => sum + size, 0);
    expect(batches.maxBytes()).toBe(4 * 1024 * 1024);
    const left = await batches.send(fileLines);
    expect(batches.maxBytes()).toBe(Math.ceil(bytes / 2));
    expect(left?.again).toHaveLength(200);
    // Lines that were put together before that go in parts, too.
    const later = await batches.send(fileLines);
    expect(later?.again).toHaveLength(200);
    expect(sent.slice(1)).toEqual([200, expect.any(Number)]);
    expect((sent.at(-1) ?? 0) * (bytes / 200)).toBeLessThanOrEqual(bytes / 2);
  },
);
