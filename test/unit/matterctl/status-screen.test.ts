/** What the screen of `matterctl status` says of clients while a server is away or rejects pushes. */

import type { MongoStatus } from '../../../src/status/mongo-status';
import type { RedisStatus } from '../../../src/status/redis-status';
import { readStatus } from '../../../src/status/status';
import { screenOf } from '../../../tools/matterctl/status/screen';

const NONE = {
  ...{ systemCode: 'OA', type: 'CONFIDENTIAL' as const, createdAt: new Date(0) },
  enabled: true,
};
const mongo = (problem: string | null = null): MongoStatus => ({
  version: '8',
  role: 'primary',
  problem,
  clients: [
    { ...NONE, _id: 'free' },
    { ...NONE, _id: 'stopped', enabled: false },
    { ...NONE, _id: 'waiting', paused: { since: new Date(0), reason: '月末结账'.repeat(20) } },
  ],
  recent: { spanMs: 250_000, results: [], clients: new Map() },
  resendable: { count: 0, reasons: {}, isCut: false },
});
const redis = (problem: string | null = null): RedisStatus => ({
  version: '8',
  role: 'master',
  problem,
  processes: [],
  partitions: [],
});

const lookWith = (facts: MongoStatus, queue: () => Promise<RedisStatus>) =>
  readStatus({ look: async () => facts }, { look: queue });
const statesOf = async (...args: Parameters<typeof lookWith>) => {
  const { clients } = await lookWith(...args);
  return clients?.map(({ clientId, state }) => [clientId, state]);
};
const away = async () => {
  throw new Error('away');
};

test('while Redis is away the state of an active client is unknown; the numbers come from MongoDB', async () => {
  const status = await lookWith(mongo(), away);
  const screen = screenOf(status, 'Asia/Shanghai');
  expect(screen).toMatch(/^free +unknown +0 +0 +0 +- +-?$/m);
  expect(screen).toMatch(/^stopped +disabled +0 +0 +0 +- +-?$/m);
  expect(screen).toMatch(/^waiting +paused +0 +0 +0 +- +-?$/m);
  expect(status.clients?.map(({ pushes, failed, rejected }) => [pushes, failed, rejected])).toEqual(
    Array(3).fill([0, 0, 0]),
  );
});

test('with Redis a client without pushes has none', async () => {
  const screen = screenOf(await lookWith(mongo(), async () => redis()), 'Asia/Shanghai');
  expect(screen).toMatch(/^free +ok +0 +0 +0 +-/m);
});

test.each<[string, MongoStatus, RedisStatus]>([
  ['a paused queue', mongo(), redis('the queue is paused')],
  ['a database that is not prepared', mongo('not prepared'), redis()],
])('%s blocks every client', async (_what, facts, queue) => {
  expect(await statesOf(facts, async () => queue)).toEqual([
    ['free', 'blocked'],
    ['stopped', 'disabled'],
    ['waiting', 'paused'],
  ]);
});

test('a reason in Chinese keeps the line within 80 columns', async () => {
  const screen = screenOf(await lookWith(mongo(), away), 'Asia/Shanghai');
  const line = screen.split('\n').find((text) => text.startsWith('waiting is paused')) ?? '';
  expect(line).toMatch(/月末结账.*…$/);
  expect(line.replace(/[月末结账]/g, 'xx').length).toBeLessThanOrEqual(80);
});
