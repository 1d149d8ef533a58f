/** A push that cannot be applied now is rejected like any other: it is recorded, or counted as unrecorded. */
import { Types } from 'mongoose';
import { createLogger } from '../../../src/infra/logger';
import { PushError, type Reason } from '../../../src/protocol/errors';
import type { PushRequest } from '../../../src/pushes/push';
import { createRejectionLog } from '../../../src/pushes/rejections';
import { createSubmit, type SubmitDependencies } from '../../../src/pushes/submit';
import type { LogEntry, PushCounts, PushLog } from '../../../src/storage/push-log';

const BODY = Buffer.from('{"externalId":"A-1"}');
const LINES = 3;

interface Recorded {
  readonly entry: LogEntry;
  readonly body: Uint8Array | undefined;
}

/** @param isUnavailable whether the push log cannot be written */
async function submit(reason: Reason, more: Partial<PushRequest> = {}, isUnavailable = false) {
  const recorded: Recorded[] = [];
  const unrecorded: string[] = [];
  const used: string[] = [];
  const use = (name: string) => () => {
    used.push(name);
    throw new Error(`${name} is used`);
  };
  const counts: PushCounts = {
    ended: () => undefined,
    unrecorded: ({ operation, result }, pushes) =>
      void unrecorded.push(`${operation} ${result} ${pushes ?? 1}`),
    stop: async () => undefined,
  };
  const pushLog: PushLog = {
    append: async (entry, body) => {
      if (isUnavailable) throw new Error('no database');
      recorded.push({ entry, body });
    },
    appendAll: use('the log of accepted pushes'),
    settle: async () => 0,
  };
  const logger = createLogger('test', 'silent');
  const clock = Date.now;
  const rejections = createRejectionLog({ pushLog, clock, logger, counts });
  const deps = {
    checkReady: () => {
      throw new PushError(reason);
    },
    batchWindow: { enter: use('the batch window') },
    loadShedder: { acquire: use('the load shedder') },
    admit: use('the rate'),
    queueAndWait: use('the queue'),
    logRejection: rejections.record,
    ...{ pushLog, clock, timeout: 30_000, batchTimeout: 60_000 },
  } as unknown as SubmitDependencies;
  const request = {
    requestId: String(new Types.ObjectId()),
    caller: { clientId: 'oa', systemCode: 'OA', secretId: 's' },
    receivedAt: Date.now(),
    operation: 'upsert',
    rawBody: BODY,
    headerErrors: [],
    ...more,
  } as Partial<PushRequest> as PushRequest;
  const results = await createSubmit(deps)(request);
  await rejections.stop();
  expect(used).toEqual([]);
  return { requestId: request.requestId, results, recorded, unrecorded };
}

const batch: Partial<PushRequest> = {
  operation: 'matters/batch',
  readLines: () =>
    Array.from({ length: LINES }, (_, index) => ({ number: index + 1, bytes: BODY })),
};

test('it is recorded with its reason and its body, and nothing else happens', async () => {
  const { requestId, results, recorded, unrecorded } = await submit('QUEUE_UNAVAILABLE');
  expect(results).toMatchObject([
    { requestId, line: undefined, operation: 'upsert', isRecorded: true },
  ]);
  expect(results[0]?.answer).toMatchObject({ reason: 'QUEUE_UNAVAILABLE' });
  expect(recorded.map(({ entry }) => entry)).toMatchObject([
    {
      _id: new Types.ObjectId(requestId),
      ...{ clientId: 'oa', systemCode: 'OA', operation: 'upsert', externalId: 'A-1' },
      ...{ state: 'REFUSED', result: 'QUEUE_UNAVAILABLE' },
    },
  ]);
  expect(recorded[0]?.body).toEqual(BODY);
  expect(unrecorded).toEqual([]);
});

test('its body is not stored while writes are slow', async () => {
  const { recorded } = await submit('DATABASE_UNAVAILABLE');
  expect(recorded).toHaveLength(1);
  expect(recorded[0]?.body).toBeUndefined();
});

test('a batch is rejected as a whole', async () => {
  const { results, recorded } = await submit('QUEUE_UNAVAILABLE', batch);
  expect(results).toMatchObject([{ line: undefined, isRecorded: true }]);
  expect(recorded).toHaveLength(1);
  expect(recorded[0]?.entry).toMatchObject({ operation: 'matters/batch' });
});

test.each([
  ['a push', {}, 'upsert DATABASE_UNAVAILABLE 1'],
  ['the lines of a batch', batch, `matters/batch DATABASE_UNAVAILABLE ${LINES}`],
])('without a database, %s is counted as unrecorded', async (_, more, counted) => {
  const { results, recorded, unrecorded } = await submit('DATABASE_UNAVAILABLE', more, true);
  expect(results).toHaveLength(1);
  expect(recorded).toEqual([]);
  expect(unrecorded).toEqual([counted]);
});
