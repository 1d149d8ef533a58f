/**
 * The pool of sessions in which batches commit: never two at once in one, and never one that was given
 * up.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, mongo } from 'mongoose';
import pino from 'pino';
import { SessionPool } from '../../../src/storage/sessions';
import { failsWholeBatch } from '../../../workers/failures';
import { dropDatabase, newDatabase } from '../../support/database';
import { loseAborts } from '../../support/lost-aborts';
import { until } from '../../support/wait';

let db: Connection;
let sessions: SessionPool;
beforeAll(async () => {
  db = await newDatabase();
  await db.createCollection('marks');
  sessions = new SessionPool(db, pino({ level: 'silent' }), 'test');
});
afterAll(async () => {
  await sessions.end();
  await dropDatabase(db);
});

const marks = () => db.collection<{ _id: string }>('marks');

test('work that was given up does not commit in the session of its successor', async () => {
  const retired = sessions.idOf(0);
  sessions.replace(0);
  const successor = sessions.idOf(0);
  const late = sessions.commit(retired, (session) =>
    marks().insertOne({ _id: 'late' }, { session }),
  );
  const now = sessions.commit(successor, (session) =>
    marks().insertOne({ _id: 'now' }, { session }),
  );
  const error = await late.catch((caught: unknown) => caught);
  expect(String(error)).toContain('the session of this batch was replaced');
  // The batch fails as a whole, and nothing is said of its pushes.
  expect(failsWholeBatch(error)).toBe(true);
  await now;
  expect(await marks().distinct('_id')).toEqual(['now']);
});

test('a retired session is ended, and nobody gets it again', async () => {
  const client = db.getClient();
  const starting = jest.spyOn(client, 'startSession');
  const retired = Array.from({ length: 20 }, () => {
    const id = sessions.idOf(8);
    sessions.replace(8);
    return id;
  });
  const started = starting.mock.results.map(({ value }) => value as mongo.ClientSession);
  starting.mockRestore();
  await until('their end', async () => started.every(({ hasEnded }) => hasEnded));
  const next = Array.from({ length: 20 }, () => client.startSession());
  const ids = next.map(({ id }) => id?.id.toString('hex'));
  await Promise.all(next.map((session) => session.endSession()));
  expect(ids.filter((id) => retired.includes(String(id)))).toEqual([]);
});

test('commits in one session wait for each other, and the pool ends none of them', async () => {
  const id = sessions.idOf(1);
  let running = 0;
  let most = 0;
  const commit = (number: number) =>
    sessions.commit(id, async (session) => {
      running += 1;
      most = Math.max(most, running);
      await marks().insertOne({ _id: `slow-${number}` }, { session });
      // Longer than the pause between two looks at the sessions.
      await sleep(1_500);
      running -= 1;
    });
  await Promise.all([commit(1), commit(2), commit(3)]);
  expect(most).toBe(1);
  expect(await marks().countDocuments({ _id: /^slow-/ })).toBe(3);
});

test('a commit that fails leaves its session to the next one', async () => {
  const id = sessions.idOf(2);
  const failed = sessions.commit(id, async (session) => {
    await marks().insertOne({ _id: 'undone' }, { session });
    throw new Error('on purpose');
  });
  const next = sessions.commit(id, (session) => marks().insertOne({ _id: 'done' }, { session }));
  await expect(failed).rejects.toThrow('on purpose');
  await next;
  expect(await marks().distinct('_id', { _id: /done$/ })).toEqual(['done']);
});

test('what a commit left open does not stand in the way of another session', async () => {
  await marks().insertOne({ _id: 'shared' });
  const write = (session: mongo.ClientSession) =>
    marks().updateOne({ _id: 'shared' }, { $inc: { writes: 1 } }, { session });
  const heal = loseAborts();
  const left = sessions.commit(sessions.idOf(4), async (session) => {
    await write(session);
    throw new Error('on purpose');
  });
  await expect(left).rejects.toThrow();
  heal();
  await sessions.commit(sessions.idOf(5), write);
  expect(await marks().findOne({ _id: 'shared' })).toMatchObject({ writes: 1 });
});

test('a batch that takes over from another session of its worker does not cut it off', async () => {
  const id = sessions.idOf(6);
  await sessions.commit(id, async (session) => {
    await marks().insertOne({ _id: 'first half' }, { session });
    await sessions.kill([id]);
    await marks().insertOne({ _id: 'second half' }, { session });
  });
  expect(await marks().countDocuments({ _id: /half$/ })).toBe(2);
});

test('a connection that breaks while a commit is written leaves its outcome unknown, and is no defect', async () => {
  // The driver hands such an error on as it came, and then fails over it where it is a commit.
  const { Connection } = jest.requireActual('mongodb/lib/cmap/connection');
  const command = Connection.prototype.command;
  const breaks = jest.spyOn(Connection.prototype, 'command');
  breaks.mockImplementation(function broken(this: unknown, ...args: unknown[]) {
    const isCommit = (args[1] as object) && 'commitTransaction' in (args[1] as object);
    if (!isCommit) return command.apply(this, args);
    const error = new Error('write ECONNRESET');
    return Promise.reject(Object.assign(error, { code: 'ECONNRESET', syscall: 'write' }));
  });
  try {
    const id = sessions.idOf(3);
    const work = (session: mongo.ClientSession) => marks().insertOne({ _id: 'cut' }, { session });
    const error = await sessions.commit(id, work).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(Error);
    const isUnknown = failsWholeBatch(error);
    expect({ error: String(error), isUnknown }).toMatchObject({ isUnknown: true });
  } finally {
    breaks.mockRestore();
  }
});
