/** Processes whose clocks are apart, by as much as is tolerated: nobody takes a live push for a lost one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Types } from 'mongoose';
import { entryModel } from '../../../src/storage/push-log/entry';
import { createIdSource, receivedAtOf } from '../../../src/storage/push-log/request-id';
import type { RunningServer } from '../../../tools/local/server';
import { startMongo } from '../../../tools/local/servers';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

/** Milliseconds that a process is fast or slow: 300 s between the fast and the slow ones. */
const APART = [-149_000, 150_000];
const PRELOAD = path.resolve(__dirname, '../../support/shifted-clock.cjs');

const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-clocks-'));
let server: RunningServer;
let service: Service;
/** Of a web process that died, by the ages of its pushes in milliseconds. */
let planted: { readonly old: Types.ObjectId; readonly recent: Types.ObjectId };
beforeAll(async () => {
  server = await startMongo({ dir, parameters: { enableTestCommands: 1 } });
  service = await startService({ processes: true, webs: 0, workers: 0, mongoUrl: server.url });
  // Before any worker looks: each looks once at an entry, three minutes after it was received.
  planted = { old: await plantLost(200_000), recent: await plantLost(40_000) };
  for (const shift of APART) {
    const off = { NODE_OPTIONS: `--require=${PRELOAD}`, SHIFT_CLOCK: String(shift) };
    await Promise.all([service.startWeb(off), service.startWorker(off)]);
  }
});
afterAll(async () => {
  await service.stop();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** @returns the id of an entry that its web process left behind, this many milliseconds ago */
async function plantLost(age: number): Promise<Types.ObjectId> {
  const receivedAt = new Date(Date.now() - age);
  const _id = new Types.ObjectId(createIdSource().ofRequest(receivedAt.getTime()));
  const about = { clientId: 'tester', systemCode: 'TEST', operation: 'upsert' };
  const body = { bodyHash: 'none', bodySize: 0 };
  const end = { receivedAt, deadlineAt: receivedAt, state: 'QUEUED' } as const;
  await entryModel(service.db).create({ _id, ...about, ...body, ...end });
  return _id;
}

/**
 * Batches stand still before they write: what is in their partitions is alive for longer than between
 * two looks at lost ones.
 */
const holdBatches = (mode: 'alwaysOn' | 'off') =>
  service.db
    .getClient()
    .db('admin')
    .command({
      configureFailPoint: 'failCommand',
      mode,
      data: {
        failCommands: ['find'],
        namespace: `${service.db.name}.matters`,
        blockConnection: true,
        blockTimeMS: 5_000,
      },
    });

test('one that is lost is ended, a minute after the last deadline that it can have', async () => {
  const log = entryModel(service.db);
  await until('the old one to be ended', async () => {
    const entry = await log.findById(planted.old).lean();
    return entry?.state === 'EXPIRED';
  });
  // By the clock of the fast worker it is as old.
  expect(await log.findById(planted.recent).lean()).toMatchObject({ state: 'QUEUED' });
});

test('a push that is alive is not ended as lost, whichever clock is fast or slow', async () => {
  await holdBatches('alwaysOn');
  const pushes = APART.map((shift, web) =>
    service.push(
      'upsert',
      { matterType: 'NOTICE', externalId: `SHIFT-${shift}`, title: 'x' },
      { url: service.urlOf(web) },
    ),
  );
  const answers = await Promise.all(pushes);
  await holdBatches('off');
  expect(answers.map(({ code }) => code)).toEqual([0, 0]);
  // The ids are of one clock, those of the slow and the fast web process.
  for (const { requestId } of answers) {
    expect(Math.abs(receivedAtOf(String(requestId)) - Date.now())).toBeLessThan(60_000);
  }
});
