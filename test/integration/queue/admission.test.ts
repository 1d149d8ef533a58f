/** What Redis remembers of signatures: their first use and its time, by the clock of Redis alone. */
import { createHash, randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { type AdmissionRequest, createAdmission } from '../../../src/queue/admission';
import { createRedisKeys } from '../../../src/queue/keys';
import { createRejectionQuota } from '../../../src/queue/rejection-quota';
import { testServers } from '../../support/service';
import { until } from '../../support/wait';

const keys = createRedisKeys(`t-${randomBytes(5).toString('hex')}`);
let redis: Redis;
beforeAll(() => {
  redis = new Redis(testServers().redisUrl);
});
afterAll(async () => {
  const left = await redis.keys(`${keys.bullPrefix(0)}*`);
  if (left.length > 0) await redis.del(left);
  redis.disconnect();
});

const TIMESTAMP = 1_763_800_000;
const MINUTE = Math.floor(TIMESTAMP / 60);
type Use = Pick<AdmissionRequest, 'path' | 'idempotencyKey'>;
const A: Use = { path: '/status', idempotencyKey: 'k1' };
const WITHOUT_KEY: Use = { path: '/status' };
const OTHER_KEY: Use = { path: '/status', idempotencyKey: 'k2' };
const OTHER_PATH: Use = { path: '/delete', idempotencyKey: 'k1' };
const MUCH: Use = { path: '/status', idempotencyKey: 'k'.repeat(255) };

/** One signature's uses. Every grace is over for `strict`, none for `lenient`; they share a memory. */
function signature(clientId = 'tester', text = randomBytes(8).toString('hex')) {
  const limit = { rate: 0, burst: 1 };
  const signed = createHash('sha256').update(text).digest('hex');
  const about = { clientId, rateOf: clientId, signature: signed, timestamp: TIMESTAMP, limit };
  const by = (grace: number | 'off') => {
    const admit = createAdmission(redis, keys, grace);
    return async (use: Use) => (await admit({ ...about, ...use })).kind;
  };
  return { by, strict: by(0), lenient: by(600_000), careless: by('off'), text };
}

test.each<[string, Use, Use]>([
  ['without its key', A, WITHOUT_KEY],
  ['with another key', A, OTHER_KEY],
  ['with a long key', A, MUCH],
  ['with a key where it had none', WITHOUT_KEY, A],
  ['on another path with its key', A, OTHER_PATH],
  ['on another path without a key', WITHOUT_KEY, { path: '/delete' }],
])('used %s: good within the grace, not after it', async (_, first, other) => {
  const { strict, lenient } = signature();
  expect(await strict(first)).toBe('admitted');
  expect(await lenient(other)).toBe('admitted');
  expect(await strict(other)).toBe('signature-reused');
  // What came within the grace has not become the first use.
  expect(await lenient(other)).toBe('admitted');
  expect(await strict(first)).toBe('admitted');
});

test('the grace begins with the first use, and no later one prolongs it', async () => {
  const { by } = signature();
  const admit = by(500);
  await admit(A);
  await until('the end of the grace', async () => (await admit(OTHER_PATH)) === 'signature-reused');
  expect(await admit(WITHOUT_KEY)).toBe('signature-reused');
  // Neither does a retry.
  expect(await admit(A)).toBe('admitted');
  expect(await admit(OTHER_KEY)).toBe('signature-reused');
});

test('pushes of the same moment are judged in their order', async () => {
  const admit = createAdmission(redis, keys, 0);
  const limit = { rate: 0, burst: 1 };
  const signed = createHash('sha256').update('moment').digest('hex');
  const about = {
    clientId: 'tester',
    rateOf: 'tester',
    signature: signed,
    timestamp: TIMESTAMP,
    limit,
  };
  const uses = [A, OTHER_KEY, A, WITHOUT_KEY].map((use) => admit({ ...about, ...use }));
  expect((await Promise.all(uses)).map(({ kind }) => kind)).toEqual([
    ...['admitted', 'signature-reused', 'admitted', 'signature-reused'],
  ]);
});

test('off asks for nothing and leaves nothing', async () => {
  const { careless, strict } = signature('careless');
  for (const use of [A, OTHER_KEY, OTHER_PATH]) expect(await careless(use)).toBe('admitted');
  expect(await redis.exists(keys.signatures('careless', MINUTE))).toBe(0);
  expect(await strict(OTHER_PATH)).toBe('admitted');
});

test('a signature is its client’s: the same one of another is another', async () => {
  const ours = signature('ours');
  const theirs = signature('theirs', ours.text);
  expect(await ours.strict(A)).toBe('admitted');
  expect(await theirs.strict(OTHER_PATH)).toBe('admitted');
});

test('what is over its rate is not remembered; it is bounded by time and holds no key in plain text', async () => {
  const admit = createAdmission(redis, keys, 0);
  const ask = (n: number) =>
    admit({
      ...{
        clientId: 'crowd',
        rateOf: 'crowd',
        limit: { rate: 1, burst: 3 },
        path: '/x',
        idempotencyKey: 'a secret',
      },
      ...{ signature: createHash('sha256').update(`${n}`).digest('hex'), timestamp: TIMESTAMP },
    });
  const asked = await Promise.all(Array.from({ length: 10 }, (_, n) => ask(n)));
  expect(asked.filter(({ kind }) => kind === 'admitted')).toHaveLength(3);
  const key = keys.signatures('crowd', MINUTE);
  const kept = await redis.hvals(key);
  expect(kept).toHaveLength(3);
  expect(kept.join()).not.toMatch(/secret|\/x/);
  const left = await redis.pttl(key);
  // Two uses of one timestamp, at web processes whose clocks are off by 300 s, one slow and one fast.
  expect(left).toBeGreaterThan(1_200_000);
  expect(left).toBeLessThanOrEqual(1_260_000);
});

test('of rejections that anybody may cause a hundred of a client have room, in all processes together', async () => {
  const processes = [createRejectionQuota(redis, keys), createRejectionQuota(redis, keys)];
  const take = (clientId: string, times: number) =>
    Promise.all(Array.from({ length: times }, (_, n) => processes[n % 2]?.(clientId)));
  const taken = await take('known', 300);
  expect(taken.filter(Boolean)).toHaveLength(100);
  expect((await take('quiet', 3)).every(Boolean)).toBe(true);
  // One more a minute: all of it is there again after a hundred.
  const left = await redis.pttl(keys.rejections('known'));
  expect(left).toBeGreaterThan(99 * 60_000 - 30_000);
  expect(left).toBeLessThanOrEqual(100 * 60_000);
});
