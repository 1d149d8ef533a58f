/** Promise 1: for one key, operations are applied one at a time, in the order of acceptance. */
import { Redis } from 'ioredis';
import type { OperationName } from '../../../src/domain/operation';
import { createBodyParsers } from '../../../src/protocol/requests';
import { createRedisKeys } from '../../../src/queue/keys';
import { entryModel } from '../../../src/storage/push-log/entry';
import {
  type Acknowledged,
  comparable,
  sequentialFold,
  storedMatter,
} from '../../support/ledger-check';
import { partitionOfKey } from '../../support/partitions';
import { todo } from '../../support/push-bodies';
import type { Answer } from '../../support/pusher';
import { type Service, startService, testServers } from '../../support/service';
import { until } from '../../support/wait';

const KEYS = ['HOT-1', 'HOT-2', 'HOT-3', 'HOT-4'];
const OPERATIONS = 2_000;
const CALLERS = 48;
const NAMES = new Map(['alice', 'bob', 'carol'].map((name) => [name, name.toUpperCase()]));
const parsers = createBodyParsers({ timeZone: 'Asia/Shanghai', clock: Date.now });

let service: Service;
const redis = new Redis(testServers().redisUrl);
beforeAll(async () => {
  service = await startService({
    processes: true,
    webs: 2,
    workers: 2,
    env: { PUSH_TIMEOUT: '60s' },
  });
});
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
        {
          ...{ externalId, bizStatus: n % 8 ? 'DONE' : 'PENDING', externalStatusCode: `${n}` },
          removeParties: [{ username: party }],
        },
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

type Sent = ReturnType<typeof operation>;

/** Pushes, and what was acknowledged of each matter. */
function newRun(ids: readonly string[]) {
  const acknowledged = new Map<string, Acknowledged[]>(ids.map((id) => [id, []]));
  const note = ([name, body]: Sent, requestId: string) => {
    const parsed = parsers[name](body);
    if (!parsed.success) throw parsed.error;
    const { operation } = parsed.data;
    acknowledged.get(String(body.externalId))?.push({ requestId, operation });
  };
  const one = async (web: number, sent: Sent) => note(sent, (await pushed(web, sent)).requestId);
  return {
    first: async () => {
      for (const [n, externalId] of ids.entries()) {
        await one(n % 2, ['upsert', todo(externalId, { title: 'first' })]);
      }
    },
    one,
    batch: async (web: number, sent: readonly Sent[]) => {
      for (let left = sent; left.length > 0; ) {
        const results = await sendBatch(web, left);
        for (const [n, it] of left.entries()) {
          const { code, requestId } = results[n] ?? {};
          if (code === 0) note(it, String(requestId));
          else expect(code).toBe(503);
        }
        left = left.filter((_, n) => results[n]?.code !== 0);
      }
    },
    expectFold: async () => {
      for (const [externalId, told] of acknowledged) {
        const key = { systemCode: 'TEST', externalId };
        const folded = await sequentialFold(service.db, key, told, NAMES);
        const stored = await storedMatter(service.db, externalId);
        expect(folded && comparable(folded)).toEqual(comparable(stored));
      }
      await until('all pushes to be final', async () => {
        return (await entryModel(service.db).countDocuments({ state: 'QUEUED' })) === 0;
      });
    },
  };
}

/**
 * Pushes until it is accepted. On a slow machine two workers may hold each other up with a push, which is a rejection:
 * nothing of it is under way.
 */
const pushed = (web: number, sent: Sent): Promise<Answer> =>
  until('a push to be accepted', async () => {
    const answer = await service.push(...sent, { url: service.urlOf(web) });
    expect([0, 503]).toContain(answer.code);
    return answer.code === 0 && answer;
  });

interface LineResult {
  readonly code: number;
  readonly requestId: string;
}

/** @returns the result of each line; the service has admitted the batch */
async function sendBatch(web: number, sent: readonly Sent[]): Promise<readonly LineResult[]> {
  const body = sent.map(([op, of]) => JSON.stringify({ op, body: of })).join('\n');
  const url = service.urlOf(web);
  return until('a batch to be admitted', async () => {
    const { code, data } = await service.push('batch', body, { url });
    expect([0, 207, 503]).toContain(code);
    return (data as { results?: readonly LineResult[] } | null)?.results;
  });
}

/**
 * Lets workers go on that stood still, and the others once `answers` are there. Workers that go on at the same time may
 * hold each other up with a push, which is then a rejection.
 */
async function resumeWorkers<T>(answers: Promise<T>): Promise<T> {
  const [first, ...others] = service.workers;
  first?.kill('SIGCONT');
  return answers.finally(() => {
    for (const worker of others) worker.kill('SIGCONT');
  });
}

const range = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n);

/** Callers take numbers by turns until there are none left. */
async function callersOf(
  act: (caller: number, take: (count: number) => number[]) => Promise<void>,
) {
  let next = 0;
  const take = (count: number) => {
    const taken = range(next, Math.min(count, OPERATIONS - next));
    next += taken.length;
    return taken;
  };
  const caller = async (number: number) => {
    while (next < OPERATIONS) await act(number, take);
  };
  await Promise.all(range(0, CALLERS).map(caller));
}

test(`${OPERATIONS} concurrent operations on ${KEYS.length} keys equal their sequential fold`, async () => {
  const run = newRun(KEYS);
  await run.first();
  await callersOf(async (_caller, take) => {
    for (const n of take(1)) await run.one(n % 2, operation(n, KEYS[n % KEYS.length] ?? ''));
  });
  await run.expectFold();
});

test('so do single pushes and batches side by side; of a batch each matter keeps the order of its lines', async () => {
  const ids = KEYS.map((key) => `MIXED-${key}`);
  const run = newRun(ids);
  await run.first();
  // Every second number stays with its matter for a while, so that a batch has several lines of it.
  const sent = (n: number) => operation(n, ids[(n % 2 ? n : n >> 3) % ids.length] ?? '');
  await callersOf(async (caller, take) => {
    const taken = take(caller % 2 ? 1 : 15);
    if (caller % 2) for (const n of taken) await run.one(n % 2, sent(n));
    else await run.batch((caller >> 1) % 2, taken.map(sent));
  });
  await run.expectFold();
  const entries = await entryModel(service.db)
    .find({ externalId: { $in: ids }, batchId: { $exists: true }, revision: { $exists: true } })
    .sort({ batchId: 1, externalId: 1, batchLine: 1 })
    .lean();
  expect(entries.length).toBeGreaterThan(OPERATIONS / 4);
  for (const [n, entry] of entries.entries()) {
    const before = entries[n - 1];
    const isSame = String(before?.batchId) === String(entry.batchId);
    if (!isSame || before?.externalId !== entry.externalId) continue;
    expect(entry.revision).toBeGreaterThan(before?.revision ?? 0);
  }
});

test('pushes of a key take effect in the order in which they came, whichever web process took them', async () => {
  const keys = createRedisKeys(service.env.REDIS_NAMESPACE ?? '');
  const externalId = 'QUEUED';
  const partition = keys.partition(partitionOfKey('TEST', externalId));
  for (const worker of service.workers) worker.kill('SIGSTOP');
  const sent: Promise<Answer>[] = [];
  for (let n = 0; n < 40; n += 1) {
    const body = todo(externalId, { title: `t${n}` });
    sent.push(service.push('upsert', body, { url: service.urlOf(n % 2) }));
    await until('its place in the partition', async () => (await redis.llen(partition)) === n + 1);
  }
  const answers = await resumeWorkers(Promise.all(sent));
  const applied = await entryModel(service.db).find({ externalId }).sort({ revision: 1 }).lean();
  expect(applied.map(({ _id }) => String(_id))).toEqual(answers.map(({ requestId }) => requestId));
  expect((await storedMatter(service.db, externalId)).title).toBe('t39');
});

test('a batch between single pushes has its place there, with all of its lines', async () => {
  const keys = createRedisKeys(service.env.REDIS_NAMESPACE ?? '');
  const externalId = 'QUEUED-MIXED';
  const partition = keys.partition(partitionOfKey('TEST', externalId));
  const before = await redis.llen(partition);
  const titled = (n: number): Sent => ['upsert', todo(externalId, { title: `t${n}` })];
  for (const worker of service.workers) worker.kill('SIGSTOP');
  const sent: Promise<readonly string[]>[] = [];
  let count = 0;
  for (let round = 0; round < 6; round += 1) {
    const web = round % 2;
    const lines = range(count, round % 3 === 1 ? 7 : 1);
    count += lines.length;
    sent.push(
      lines.length > 1
        ? sendBatch(web, lines.map(titled)).then((results) => results.map((it) => it.requestId))
        : service
            .push(...titled(lines[0] ?? 0), { url: service.urlOf(web) })
            .then(({ requestId }) => [requestId]),
    );
    const isThere = async () => (await redis.llen(partition)) === before + count;
    await until('their place in the partition', isThere);
  }
  const ids = (await resumeWorkers(Promise.all(sent))).flat();
  const applied = await entryModel(service.db).find({ externalId }).sort({ revision: 1 }).lean();
  expect(applied.map(({ _id }) => String(_id))).toEqual(ids);
  expect(await storedMatter(service.db, externalId)).toMatchObject({ title: `t${count - 1}` });
});

test('a push that is sent after another was answered takes effect after it', async () => {
  const externalId = 'IN-TURN';
  for (let n = 1; n <= 40; n += 1) {
    const answer = await pushed(n % 2, ['upsert', todo(externalId, { title: `t${n}` })]);
    const entry = await entryModel(service.db).findById(answer.requestId).lean();
    expect(entry?.revision).toBe(n);
  }
});
