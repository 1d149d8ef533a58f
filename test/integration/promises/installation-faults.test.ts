/** A fault of the installation is never final for a push: the push may be sent again, and the log names the cause. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel, FINGERPRINT_INDEX } from '../../../src/storage/push-log/entry';
import { type RunningServer, startMongo } from '../../../tools/local/servers';
import { type BatchRig, batchOf, createBatchRig } from '../../support/batch-rig';
import { anUpsert } from '../../support/builders';
import type { Answer } from '../../support/pusher';
import { type Service, startService } from '../../support/service';
import { statusOf } from '../../support/status-of';
import { whileClockStands } from '../../support/still-clock';
import { until } from '../../support/wait';

describe('a worker', () => {
  let rig: BatchRig;
  beforeAll(async () => {
    rig = await createBatchRig();
  });
  afterAll(() => rig.close());

  const RETRYABLE = { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' };

  test('a validator that somebody added rejects no push for good, and no other push at all', async () => {
    const matters = matterModel(rig.db).collection;
    const validator = { title: { $ne: 'not valid here' } };
    await rig.db.db?.command({ collMod: matters.name, validator });
    const bad = await rig.queued('REJECTED', anUpsert({ title: 'not valid here' }));
    const others = await Promise.all(
      Array.from({ length: 20 }, (_, n) => rig.queued(`OTHER-${n}`, anUpsert({ title: 'good' }))),
    );
    const replies = await whileClockStands(() => rig.newWorker()(batchOf([...others, bad])));
    await rig.db.db?.command({ collMod: matters.name, validator: {} });
    const ends = new Map(replies.map(({ id, settlement }) => [id, settlement]));
    expect(ends.get(bad.id)).toEqual(RETRYABLE);
    for (const { id } of others) expect(ends.get(id)).toMatchObject({ state: 'PERSISTED' });
  });

  test('an index that is missing rejects no push for good', async () => {
    const log = entryModel(rig.db).collection;
    const { key } = (await log.indexes()).find(({ name }) => name === FINGERPRINT_INDEX) ?? {};
    await log.dropIndex(FINGERPRINT_INDEX);
    const idempotencyKey = { idempotencyKey: 'K', idempotencyFingerprint: 'fingerprint' };
    const push = await rig.queued('KEYED', anUpsert({ title: 'x' }), idempotencyKey);
    const replies = await rig.newWorker()(batchOf([push]));
    await log.createIndex(key ?? {}, { name: FINGERPRINT_INDEX, sparse: true });
    expect(replies).toMatchObject([{ id: push.id, settlement: RETRYABLE }]);
  });
});

describe('a database that rejects all writes for moments', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-blocked-'));
  let mongo: RunningServer;
  let service: Service;
  beforeAll(async () => {
    mongo = await startMongo({ dir });
    service = await startService({
      mongoUrl: mongo.url,
      metrics: true,
      env: { PUSH_TIMEOUT: '10s' },
    });
  }, 120_000);
  afterAll(async () => {
    await block(false);
    await service.stop();
    await mongo.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const readyUrl = (url: string) => url.replace(/metrics$/, 'readyz');
  const block = (global: boolean) =>
    service.db.getClient().db('admin').command({ setUserWriteBlockMode: 1, global });
  const send = (n: number) =>
    service.push('upsert', { matterType: 'NOTICE', externalId: `B-${n}`, title: 'x' });

  test('no process is ready while it does, and the log names the error of the server', async () => {
    const urls = [`${service.urlOf()}/readyz`, ...service.metricsUrls.map(readyUrl)];
    const statuses = () => Promise.all(urls.map((url) => statusOf(url)));
    const allAre = (status: number) => async () =>
      (await statuses()).every((one) => one === status);
    await until('all to be ready', allAre(200));
    await block(true);
    await until('none to be ready', allAre(503));
    await block(false);
    await until('all to be ready again', allAre(200));
    const log = readFileSync(String(service.webs[0]?.logFile), 'utf8');
    expect(log).toMatch(/"path":"\/readyz"[^\n]*code 371/);
  }, 60_000);

  test('every push may be sent again, and is applied then', async () => {
    const failed: Answer[] = [];
    let isOver = false;
    let sent = 0;
    const sender = async () => {
      while (!isOver) {
        const answer = await send(sent++);
        if (answer.code !== 0) failed.push(answer);
      }
    };
    const senders = Array.from({ length: 32 }, sender);
    for (let n = 0; n < 5; n += 1) {
      await block(true);
      await sleep(1_200);
      await block(false);
      await sleep(300);
    }
    isOver = true;
    await Promise.all(senders);
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.filter(({ retryable }) => !retryable)).toEqual([]);
    for (let n = 0; n < sent; n += 32) {
      const again = Array.from({ length: 32 }, (_, k) =>
        until(`push ${n + k} to be applied`, async () => (await send(n + k)).code === 0, 120_000),
      );
      await Promise.all(again);
    }
    const logs = [...service.webs, ...service.workers].map(({ logFile }) =>
      readFileSync(logFile, 'utf8'),
    );
    expect(logs.join('')).toContain('(code 371');
    expect(logs.join('')).not.toContain('OPERATION_FAILED');
  }, 240_000);
});
