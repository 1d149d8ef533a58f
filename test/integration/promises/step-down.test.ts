/** A command may be the first to hear that its primary steps down: the connection finds the next one all the same. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Connection } from 'mongoose';
import { connectMongo } from '../../../src/infra/mongo';
import { type RunningServer, startMongo } from '../../../tools/local/servers';
import { until } from '../../support/wait';

const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-step-down-'));
let server: RunningServer;
let db: Connection;
beforeAll(async () => {
  server = await startMongo({ dir });
  db = await connectMongo(server.url);
});
afterAll(async () => {
  await db.close();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('writes go on once there is a primary again', async () => {
  const isWritten = () =>
    db
      .collection('marks')
      .insertOne({})
      .then(
        () => true,
        () => false,
      );
  await isWritten();
  // The only member comes back as primary once it may, by an election of its own.
  const stepDown = { replSetStepDown: 5, force: true };
  // It may be primary again before a process that stands still has written.
  await until('a write to be rejected', async () => {
    await db.getClient().db('admin').command(stepDown);
    const written = await Promise.all(Array.from({ length: 20 }, isWritten));
    return written.includes(false);
  });
  await until('a write', isWritten);
});
