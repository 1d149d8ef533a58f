/** Push counts that the database did not take at first. */
import type { Connection } from 'mongoose';
import pino from 'pino';
import { nativeCollection } from '../../../src/infra/mongo';
import { createPushCounts } from '../../../src/storage/push-log/counts';
import { countModel } from '../../../src/storage/push-log/read-counts';
import { dropDatabase, newDatabase } from '../../support/database';
import { until } from '../../support/wait';

const HOUR = 3_600_000;
const MINUTE = Math.floor(Date.now() / HOUR) * HOUR + 60_000;

let db: Connection;
beforeAll(async () => {
  db = await newDatabase();
});
afterAll(() => dropDatabase(db));

test('after a failed write, the next one has the same numbers, and the time of the last push', async () => {
  const collection = nativeCollection(countModel(db));
  const failing = jest
    .spyOn(collection, 'bulkWrite')
    .mockRejectedValueOnce(new Error('no primary'));
  const counts = createPushCounts(db, {
    logger: pino({ level: 'silent' }),
    hourOf: (at) => Math.floor(at / HOUR) * HOUR,
    interval: 20,
  });
  const push = { clientId: 'oa', systemCode: 'OA', operation: 'upsert', result: 'CREATED' };
  counts.ended({ ...push, receivedAt: MINUTE + 1_000 }, 8, 2);
  counts.ended({ ...push, receivedAt: MINUTE + 5_000 }, 8, 3);
  await until('a failed write and another one', async () => failing.mock.calls.length > 1);
  await counts.stop();
  expect(await collection.find().toArray()).toMatchObject([
    { pushes: 5, latest: new Date(MINUTE + 5_000) },
  ]);
});

test('a failed last write is logged, with the number of counts that it did not confirm', async () => {
  const collection = nativeCollection(countModel(db));
  jest.spyOn(collection, 'bulkWrite').mockRejectedValueOnce(new Error('no primary'));
  const lines: string[] = [];
  const counts = createPushCounts(db, {
    logger: pino({ level: 'warn' }, { write: (line) => void lines.push(line) }),
    hourOf: (at) => Math.floor(at / HOUR) * HOUR,
    interval: HOUR,
  });
  const push = { clientId: 'hr', systemCode: 'HR', operation: 'upsert', receivedAt: MINUTE };
  counts.ended({ ...push, result: 'CREATED' }, 8, 2);
  counts.ended({ ...push, result: 'UPDATED' }, 8);
  await counts.stop();
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      counts: 2,
      error: 'Error: no primary',
      msg: 'push counts may be lost: the last write failed',
    },
  ]);
});
