/** Promise 2: `code: 0` means that the database has it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { matterModel } from '../../../src/storage/ledger/matters';
import { type RunningServer, startMongo } from '../../../tools/local/servers';
import { todo } from '../../support/push-bodies';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-truth-'));
let mongo: RunningServer;
let service: Service;
beforeAll(async () => {
  mongo = await startMongo({ dir });
  service = await startService({ mongoUrl: mongo.url, env: { PUSH_TIMEOUT: '3s' } });
});
afterAll(async () => {
  await service.stop();
  await mongo.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('with the database killed under load, nothing that was answered 0 is missing', async () => {
  const acknowledged: string[] = [];
  const codes = new Map<number, number>();
  let stop = false;
  let next = 0;
  let down = false;
  const answeredWhileDown: number[] = [];
  const caller = async () => {
    while (!stop) {
      const externalId = `T-${next++}`;
      const sentWhileDown = down;
      const answer = await service.push('upsert', todo(externalId));
      codes.set(answer.code, (codes.get(answer.code) ?? 0) + 1);
      if (answer.code === 0) acknowledged.push(externalId);
      else await sleep(20);
      if (sentWhileDown && down) answeredWhileDown.push(answer.code);
    }
  };
  const callers = Array.from({ length: 24 }, caller);
  await until('some pushes', async () => acknowledged.length > 200);

  mongo.kill('SIGKILL');
  await mongo.exited;
  down = true;
  await until('an answer to each caller', async () => answeredWhileDown.length >= callers.length);
  down = false;
  expect(answeredWhileDown.filter((code) => code === 0)).toEqual([]);

  mongo = await startMongo({ dir, port: mongo.port });
  const before = acknowledged.length;
  await until('pushes to be accepted again', async () => acknowledged.length > before + 50);
  stop = true;
  await Promise.all(callers);

  const found = await matterModel(service.db).distinct('externalId');
  const stored = new Set(found);
  expect(acknowledged.filter((externalId) => !stored.has(externalId))).toEqual([]);
  expect(codes.get(0)).toBe(acknowledged.length);
});
