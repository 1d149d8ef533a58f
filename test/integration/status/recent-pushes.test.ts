/** Pushes of the last minutes, as all web processes have counted them. */
import type { Connection } from 'mongoose';
import pino from 'pino';
import { readRecentPushes } from '../../../src/status/recent-pushes';
import { createPushCounts } from '../../../src/storage/push-log/counts';
import { dropDatabase, newDatabase } from '../../support/database';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Math.floor(Date.now() / HOUR) * HOUR + 90_000;

let db: Connection;
beforeAll(async () => {
  db = await newDatabase();
});
afterAll(() => dropDatabase(db));

test('results and clients are added up over processes and hours; older minutes are left out', async () => {
  const options = {
    logger: pino({ level: 'silent' }),
    hourOf: (at: number) => Math.floor(at / HOUR) * HOUR,
  };
  const webs = [createPushCounts(db, options), createPushCounts(db, options)];
  const end = (web: number, clientId: string, result: string, ageMs: number, pushes = 1) => {
    const push = { clientId, systemCode: 'OA', operation: 'upsert', result };
    webs[web]?.ended({ ...push, receivedAt: NOW - ageMs }, 8, pushes);
  };
  end(0, 'oa', 'CREATED', 1_000, 3);
  end(1, 'oa', 'CREATED', 2 * MINUTE, 4);
  end(0, 'oa', 'CREATED', 10 * MINUTE, 100);
  end(0, 'oa', 'DATABASE_UNAVAILABLE', 30_000);
  end(1, 'oa', 'VALIDATION_FAILED', 2_000);
  end(1, 'hr', 'CLIENT_PAUSED', 5_000);
  for (const web of webs) await web.stop();
  const { spanMs, results, clients } = await readRecentPushes(db, NOW);
  expect(spanMs).toBe(4 * MINUTE + 30_000);
  expect(results[0]).toEqual({ result: 'CREATED', count: 7, p50: 8, p95: 8 });
  expect(results.map(({ count }) => count)).toEqual([7, 1, 1, 1]);
  expect(Object.fromEntries(clients)).toEqual({
    oa: {
      ...{ pushes: 9, failed: 1, rejected: 1 },
      ...{ lastReason: 'VALIDATION_FAILED', lastReasonMs: 2_000 },
    },
    hr: {
      ...{ pushes: 1, failed: 0, rejected: 1 },
      ...{ lastReason: 'CLIENT_PAUSED', lastReasonMs: 5_000 },
    },
  });
});
