/** Promise 1: for one key, operations are applied one at a time, in the order of acceptance. */
import { Redis } from 'ioredis';
import type { OperationName } from '../../src/domain/operation';
import { createBodyParsers } from '../../src/protocol/requests';
import { createRedisKeys } from '../../src/queue/keys';
import { entryModel } from '../../src/storage/push-log/entry-model';
import {
  type Acknowledged,
  comparable,
  sequentialFold,
  storedMatter,
} from '../support/ledger-check';
import { partitionOfKey } from '../support/partitions';
import type { Answer } from '../support/pusher';
import { type Service, startService, testServers } from '../support/service';
import { until } from '../support/wait';

const KEYS = ['HOT-1', 'HOT-2', 'HOT-3', 'HOT-4'];
const OPERATIONS = 2_000;
const CALLERS = 48;
const NAMES = new Map(['alice', 'bob', 'carol'].map((name) => [name, name.toUpperCase()]));
const parsers = createBodyParsers({ timeZone: 'Asia/Shanghai', clock: Date.now });

let service: Service;
const redis = new Redis(testServers().redisUrl);
beforeAll(async () => {
  service = await startService({ webs: 2, workers: 2, env: { PUSH_TIMEOUT: '60s' } });
}, 60_000);
afterAll(async () => {
  redis.disconnect();
  await service.stop();
});

/** Operation `n` of a run: it is told apart in the final matter, whichever comes last. */
function operation(n: number, externalId: string): [OperationName, Record<string, unknown>] {
  const party = ['alice', 'bob', 'carol'][n % 3];
  const parties = [{ username: party, partyRole: n % 2 ? 'ASSIGNEE' : 'CC' }];
  switch (n % 4) {
    case 0:
      return [
        'status',
        { externalId, bizStatus: n % 8 ? 'DONE' : 'PENDING', externalStatusCode: `${n}` },
      ];
    case 1:
      return ['reopen', { externalId, externalStatusLabel: `label ${n}` }];
    default:
      return [
        'upsert',
        { matterType: 'TODO', externalId, title: `t${n}`, parties, replaceParties: n % 5 === 0 },
      ];
  }
}

test(`${OPERATIONS} concurrent operations on ${KEYS.length} keys equal their sequential fold`, async () => {
  const acknowledged = new Map<string, Acknowledged[]>(KEYS.map((key) => [key, []]));
  const accept = async (n: number, key: string, [name, body] = operation(n, key)) => {
    const answer = await service.push(name, body, { url: service.urlOf(n % 2) });
    expect(answer).toMatchObject({ code: 0 });
    const parsed = parsers[name](body);
    if (!parsed.success) throw parsed.error;
    const { requestId } = answer;
    acknowledged.get(key)?.push({ requestId, operation: parsed.data.operation });
  };
  for (const [n, key] of KEYS.entries()) {
    await accept(n, key, ['upsert', { matterType: 'TODO', externalId: key, title: 'first' }]);
  }
  let next = 0;
  const caller = async () => {
    while (next < OPERATIONS) {
      const n = next++;
      await accept(n, KEYS[n % KEYS.length] ?? '');
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));

  for (const externalId of KEYS) {
    const key = { systemCode: 'TEST', externalId };
    const folded = await sequentialFold(service.db, key, acknowledged.get(externalId) ?? [], NAMES);
    const stored = await storedMatter(service.db, externalId);
    expect(folded && comparable(folded)).toEqual(comparable(stored));
  }
  expect(await entryModel(service.db).countDocuments({ state: 'QUEUED' })).toBe(0);
}, 180_000);

test('pushes of a key take effect in the order in which they came, whichever web process took them', async () => {
  const keys = createRedisKeys(service.env.REDIS_NAMESPACE ?? '');
  const externalId = 'QUEUED';
  const partition = keys.partition(partitionOfKey('TEST', externalId));
  for (const worker of service.workers) worker.kill('SIGSTOP');
  const sent: Promise<Answer>[] = [];
  for (let n = 0; n < 40; n += 1) {
    const body = { matterType: 'TODO', externalId, title: `t${n}` };
    sent.push(service.push('upsert', body, { url: service.urlOf(n % 2) }));
    await until('its place in the partition', async () => (await redis.llen(partition)) === n + 1);
  }
  for (const worker of service.workers) worker.kill('SIGCONT');
  const answers = await Promise.all(sent);
  const applied = await entryModel(service.db).find({ externalId }).sort({ revision: 1 }).lean();
  expect(applied.map(({ _id }) => String(_id))).toEqual(answers.map(({ requestId }) => requestId));
  expect((await storedMatter(service.db, externalId)).title).toBe('t39');
}, 60_000);

test('a push that is sent after another was answered takes effect after it', async () => {
  const externalId = 'IN-TURN';
  for (let n = 1; n <= 40; n += 1) {
    const body = { matterType: 'TODO', externalId, title: `t${n}` };
    const answer = await service.push('upsert', body, { url: service.urlOf(n % 2) });
    const entry = await entryModel(service.db).findById(answer.requestId).lean();
    expect(entry?.revision).toBe(n);
  }
}, 60_000);
