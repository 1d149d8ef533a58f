/**
 * The way of a batch: it waits with what it has to answer with, and not the JSON that it was read from; and it goes
 * in parts where it has to, each line behind the one of its matter.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { mongo, Types } from 'mongoose';
import { NO_METRICS } from '../../../src/observability/metrics';
import { PushError } from '../../../src/protocol/errors';
import type { JsonObject } from '../../../src/protocol/json-body';
import type { BatchWindow } from '../../../src/pushes/batch-window';
import type { PushFinalizer } from '../../../src/pushes/lost-replies';
import type { PushRequest } from '../../../src/pushes/push';
import { readPushes } from '../../../src/pushes/read-pushes';
import {
  createSubmit,
  type SubmitDependencies,
  type SubmitSteps,
} from '../../../src/pushes/submit';
import type { PushMessage } from '../../../src/queue/records';
import type { PushLog } from '../../../src/storage/push-log';
import { until } from '../../support/wait';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const LINES = 20;
const bytes = Buffer.from('{"op":"delete","body":{"externalId":"A"}}');
const nothing = () => undefined;

const read: WeakRef<JsonObject>[] = [];
let readWhileWaiting = 0;

const checkBodies: SubmitDependencies['checkBodies'] = async (bodies) => {
  for (const [body] of bodies) read.push(new WeakRef(body));
  return bodies.map(() => ({ operation: { op: 'delete' }, externalId: 'A', warnings: [] }));
};
const queueAndWait: SubmitDependencies['queueAndWait'] = async (pushes) => {
  await sleep(10);
  collectGarbage();
  readWhileWaiting = read.filter((one) => one.deref() !== undefined).length;
  return pushes.map(() => undefined);
};
const deps = {
  checkReady: nothing,
  batchWindow: {
    enter: (_client: string, lines: number) => ({
      take: async () => ({ lines, release: nothing }),
      leave: nothing,
    }),
  },
  loadShedder: { acquire: () => ({ end: nothing, release: nothing }) },
  admit: async () => undefined,
  idempotency: { fingerprintOf: nothing, firstAttempts: async () => new Map() },
  pushLog: { appendAll: async () => new Map() },
  database: { guard: <T>(call: Promise<T>) => call },
  clock: Date.now,
  batchTimeout: 30_000,
  limits: { lines: 1_000, bodyBytes: 1_000 },
  metrics: NO_METRICS,
  newLineIds: (_id: string, count: number) =>
    Array.from({ length: count }, () => String(new Types.ObjectId())),
  checkBodies,
  queueAndWait,
} as unknown as SubmitDependencies;

const requestOf = (lines: readonly Buffer[]) =>
  ({
    requestId: String(new Types.ObjectId()),
    caller: { clientId: 'oa', systemCode: 'OA', secretId: 's' },
    receivedAt: Date.now(),
    signature: 'ab'.repeat(32),
    operation: 'matters/batch',
    headerErrors: [],
    onAdmitted: nothing,
    readLines: () => lines.map((bytes, index) => ({ number: index + 1, bytes })),
  }) as Partial<PushRequest> as PushRequest;

test('the JSON of the lines is released before the wait', async () => {
  const results = await createSubmit(deps)(requestOf(Array(LINES).fill(bytes)));
  expect(results).toHaveLength(LINES);
  expect(read).toHaveLength(LINES);
  expect(readWhileWaiting).toBe(0);
});

describe('in parts', () => {
  const DONE = { state: 'PERSISTED', outcome: 'DELETED', matterId: '1' } as const;
  const matters = ['A', 'B', 'A', 'C', 'A', 'B', 'C', 'A'];
  const lines = matters.map((externalId) =>
    Buffer.from(JSON.stringify({ op: 'delete', body: { externalId } })),
  );

  /** Three lines at a time. @param failing position of a part whose entries are not recorded, @param cause and why */
  function start(failing?: number, cause: Error = new Error('away'), steps?: SubmitSteps) {
    const happened: string[] = [];
    const sent: PushMessage[] = [];
    const ends: (() => void)[] = [];
    let parts = 0;
    const submit = createSubmit({
      ...deps,
      checkBodies: async (bodies) =>
        bodies.map(([body]) => ({
          operation: { op: 'delete' },
          externalId: String(body.externalId),
          warnings: [],
        })),
      batchWindow: {
        enter: (_client: string, count: number) => {
          let left = count;
          const take = async () => {
            happened.push(`take of ${left}`);
            const granted = Math.min(3, left);
            left -= granted;
            const release = once(() => void happened.push(`release ${granted}`));
            return { lines: granted, release };
          };
          return { take, leave: () => void happened.push(`leave at ${left}`) };
        },
      } as unknown as BatchWindow,
      pushLog: {
        appendAll: async (unlogged) => {
          happened.push(`log ${unlogged.map(({ entry }) => entry.externalId).join('')}`);
          const isFailing = parts++ === failing;
          return new Map(isFailing ? unlogged.map(({ entry }) => [entry, cause]) : []);
        },
      } as Partial<PushLog> as PushLog,
      finalizer: { finalize: async () => undefined } as unknown as PushFinalizer,
      queueAndWait: (queued) => {
        const pushes = queued.map(({ message }) => message);
        happened.push(`queue ${pushes.map(({ externalId }) => externalId).join('')}`);
        sent.push(...pushes);
        return new Promise((resolve) => {
          ends.push(() => resolve(pushes.map(() => DONE)));
        });
      },
    });
    return { happened, sent, ends, results: submit(requestOf(lines), steps) };
  }
  /** Until so many things happened, and then some turns of the event loop for what must not happen. */
  async function flush(happened: readonly unknown[], count: number): Promise<void> {
    await until(`${count} steps`, async () => happened.length >= count);
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  }
  function once(act: () => void): () => void {
    let isDone = false;
    return () => {
      if (!isDone) act();
      isDone = true;
    };
  }

  test('a part waits for its turn, and not for the end of the one before it', async () => {
    const { happened, ends, results } = start();
    await flush(happened, 9);
    expect(happened).toEqual([
      ...['take of 8', 'log ABA', 'queue ABA'],
      ...['take of 5', 'log CAB', 'queue CAB'],
      ...['take of 2', 'log CA', 'queue CA'],
    ]);
    happened.length = 0;
    const [first, second, third] = ends;
    second?.();
    await flush(happened, 1);
    expect(happened).toEqual(['release 3']);
    first?.();
    third?.();
    expect((await results).map(({ line, externalId }) => `${line}${externalId}`)).toEqual(
      matters.map((externalId, index) => `${index + 1}${externalId}`),
    );
    expect([...happened].sort()).toEqual(['leave at 0', 'release 2', 'release 3', 'release 3']);
  });

  test('each line is behind the one of its matter, in whatever part that is', async () => {
    const { sent, ends, results } = start();
    await flush(sent, 8);
    const last = new Map<string, string>();
    for (const { id, externalId, previous } of sent) {
      expect(previous).toBe(last.get(externalId));
      last.set(externalId, id);
    }
    expect(sent).toHaveLength(8);
    for (const end of ends) end();
    await results;
  });

  test('behind one that was not recorded those of its matter are skipped in later parts too', async () => {
    const { sent, ends, results } = start(0);
    await flush(sent, 2);
    expect(sent.map(({ externalId }) => externalId).join('')).toBe('CC');
    for (const end of ends) end();
    const reasons = (await results).map(({ answer }) =>
      answer instanceof PushError ? answer.reason : 'done',
    );
    const [GONE, SKIPPED] = ['DATABASE_UNAVAILABLE', 'SKIPPED_AFTER_FAILURE'];
    const expected = [GONE, GONE, GONE, 'done', SKIPPED, SKIPPED, 'done', SKIPPED];
    expect(reasons).toEqual(expected);
  });

  test.each([
    [
      'STILL_QUEUED',
      'BCBC',
      ['SKIPPED_AFTER_FAILURE', 'SKIPPED_AFTER_FAILURE', 'SKIPPED_AFTER_FAILURE'],
    ],
    ['RESOLVED_SINCE', 'BACABCA', ['done', 'done', 'done']],
  ] as const)('behind a resend that is rejected with %s', async (reason, queued, laterOnes) => {
    const steps: SubmitSteps = {
      read: readPushes,
      recheck: async (pushes) => {
        const first = pushes.find(({ line, valid }) => line === 1 && valid);
        if (first) first.answer = new PushError(reason);
      },
    };
    const { sent, ends, results } = start(undefined, undefined, steps);
    await flush(sent, queued.length);
    expect([...sent.map(({ externalId }) => externalId)].join('')).toBe(queued);
    for (const end of ends) end();
    const answers = (await results)
      .filter(({ externalId }) => externalId === 'A')
      .map(({ answer }) => (answer instanceof PushError ? answer.reason : 'done'));
    expect(answers).toEqual([reason, ...laterOnes]);
  });

  test('behind one that can never be recorded those of its matter are sent', async () => {
    const { sent, ends, results } = start(0, new mongo.BSON.BSONError('cannot be encoded'));
    await flush(sent, 5);
    expect(sent.map(({ externalId }) => externalId).join('')).toBe('CABCA');
    for (const end of ends) end();
    const reasons = (await results).map(({ answer }) =>
      answer instanceof PushError ? answer.reason : 'done',
    );
    expect(reasons).toEqual([...Array(3).fill('OPERATION_FAILED'), ...Array(5).fill('done')]);
  });
});
