/** What Redis remembers of signatures: their first use and its time, by the clock of Redis alone. */
import { createHash, randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import {
  type AdmissibleRequest,
  type AdmissionSettings,
  createAdmit,
  type RateLimit,
} from '../../../src/pushes/admission';
import { createRedisKeys } from '../../../src/queue/keys';
import type { RateOverride } from '../../../src/storage/directory/rate-override';
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
type Use = Pick<AdmissibleRequest, 'path' | 'idempotencyKey'>;
const A: Use = { path: '/status', idempotencyKey: 'k1' };
const WITHOUT_KEY: Use = { path: '/status' };
const OTHER_KEY: Use = { path: '/status', idempotencyKey: 'k2' };
const OTHER_PATH: Use = { path: '/delete', idempotencyKey: 'k1' };
const MUCH: Use = { path: '/status', idempotencyKey: 'k'.repeat(255) };

const NO_LIMIT = { rate: 0, burst: 1 };
/** Per second: so slow that nothing is given back while a test runs, on whatever machine. */
const SLOW = 0.001;
const QUERY_KEY_RATE = { rate: 20, burst: 100 };
const admitWith = (signatureGrace: AdmissionSettings['signatureGrace'], rate = NO_LIMIT) =>
  createAdmit(redis, keys, { signatureGrace, rate, queryKeyRate: QUERY_KEY_RATE });
const callerOf = (clientId: string, limit?: RateOverride) => ({
  ...{ clientId, systemCode: 'OA', secretId: 's' },
  ...(limit && { limit }),
});
const hexOf = (text: string) => createHash('sha256').update(text).digest('hex');
const TIMEOUT = 30_000;
/** `admitted`, or the reason of the rejection. */
const endOf = (admission: Promise<unknown>): Promise<string> =>
  admission.then(
    () => 'admitted',
    ({ reason }) => reason,
  );

/** One signature's uses. Every grace is over for `strict`, none for `lenient`; they share a memory. */
function signature(clientId = 'tester', text = randomBytes(8).toString('hex')) {
  const signed = { caller: callerOf(clientId), signature: hexOf(text), timestamp: TIMESTAMP };
  const by = (grace: number | 'off') => {
    const admit = admitWith(grace);
    return (use: Use) => endOf(admit({ ...signed, ...use }, TIMEOUT));
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
  expect(await strict(other)).toBe('SIGNATURE_REUSED');
  // What came within the grace has not become the first use.
  expect(await lenient(other)).toBe('admitted');
  expect(await strict(first)).toBe('admitted');
});

test('the grace begins with the first use, and no later one prolongs it', async () => {
  const { by } = signature();
  const admit = by(500);
  await admit(A);
  await until('the end of the grace', async () => (await admit(OTHER_PATH)) === 'SIGNATURE_REUSED');
  expect(await admit(WITHOUT_KEY)).toBe('SIGNATURE_REUSED');
  // Neither does a retry.
  expect(await admit(A)).toBe('admitted');
  expect(await admit(OTHER_KEY)).toBe('SIGNATURE_REUSED');
});

test('pushes of the same moment are judged in their order', async () => {
  const admit = admitWith(0);
  const signed = { caller: callerOf('tester'), signature: hexOf('moment'), timestamp: TIMESTAMP };
  const uses = [A, OTHER_KEY, A, WITHOUT_KEY].map((use) =>
    endOf(admit({ ...signed, ...use }, TIMEOUT)),
  );
  expect(await Promise.all(uses)).toEqual([
    ...['admitted', 'SIGNATURE_REUSED', 'admitted', 'SIGNATURE_REUSED'],
  ]);
});

test('requests of several clients at once get their own answers', async () => {
  const admit = admitWith(0);
  const limited = callerOf('limited', { rate: SLOW, burst: 1 });
  const ask = (caller: ReturnType<typeof callerOf>, text: string, use: Use) =>
    endOf(admit({ caller, signature: hexOf(text), timestamp: TIMESTAMP, ...use }, TIMEOUT));
  expect(await ask(limited, 'all that it may send', A)).toBe('admitted');
  const [some, others] = [callerOf('some'), callerOf('others')];
  const answers = await Promise.all([
    ask(limited, 'too much', A),
    ask(some, 'twice', A),
    ask(others, 'twice', A),
    ask(some, 'twice', OTHER_PATH),
    ask(others, 'once', A),
  ]);
  expect(answers).toEqual([
    ...['RATE_LIMITED', 'admitted', 'admitted', 'SIGNATURE_REUSED', 'admitted'],
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
  const admit = admitWith(0, { rate: SLOW, burst: 3 });
  const request = { caller: callerOf('crowd'), path: '/x', idempotencyKey: 'a secret' };
  const asked = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      endOf(admit({ ...request, signature: hexOf(`${n}`), timestamp: TIMESTAMP }, TIMEOUT)),
    ),
  );
  expect(asked.filter((end) => end === 'admitted')).toHaveLength(3);
  expect(asked.filter((end) => end === 'RATE_LIMITED')).toHaveLength(7);
  const key = keys.signatures('crowd', MINUTE);
  const kept = await redis.hvals(key);
  expect(kept).toHaveLength(3);
  expect(kept.join()).not.toMatch(/secret|\/x/);
  const left = await redis.pttl(key);
  // Two uses of one timestamp, at web processes whose clocks are off by 300 s, one slow and one fast.
  expect(left).toBeGreaterThan(1_200_000);
  expect(left).toBeLessThanOrEqual(1_260_000);
});

describe('rates', () => {
  const DEFAULTS = { rate: 200, burst: 400 };
  let clients = 0;
  const request = () => ({
    ...{ path: '/x', signature: randomBytes(32).toString('hex'), timestamp: TIMESTAMP },
  });

  test.each<[string, RateOverride | undefined, RateLimit]>([
    ['none of its own', undefined, DEFAULTS],
    ['an empty one', {}, DEFAULTS],
    ['both', { rate: 5, burst: 7 }, { rate: 5, burst: 7 }],
    ['a rate', { rate: 5 }, { rate: 5, burst: 400 }],
    ['a burst', { burst: 7 }, { rate: 200, burst: 7 }],
  ])('a client with %s: it applies and is reported', async (_, own, limit) => {
    const admit = admitWith('off', DEFAULTS);
    const caller = callerOf(`rate-${clients++}`, own);
    const rate = await admit({ ...request(), caller }, TIMEOUT);
    expect(rate).toEqual({ ...limit, remaining: limit.burst - 1 });
    // A whole batch is admitted into an empty bucket, and fills it above the burst.
    const next = { ...request(), caller: callerOf(`rate-${clients++}`, own) };
    // At the same moment: the burst would flow off while a machine stands still in between.
    const [, rejected] = await Promise.all([
      admit(next, TIMEOUT, 1_000),
      admit(next, TIMEOUT).catch((error) => error),
    ]);
    expect(rejected).toMatchObject({ reason: 'RATE_LIMITED', rate: { ...limit, remaining: 0 } });
    expect(rejected.retryAfter).toBeGreaterThan(1);
  });

  test('a query key has a rate of its own, whatever its client has', async () => {
    const admit = admitWith('off', DEFAULTS);
    const client = callerOf('keys', { rate: SLOW, burst: 1 });
    const queryKey = { mayPush: true, endsAt: 1 };
    const byKey = { ...request(), caller: { ...client, secretId: 'k', queryKey } };
    expect(await admit(byKey, TIMEOUT)).toEqual({ ...QUERY_KEY_RATE, remaining: 99 });
    const own = { ...request(), caller: client };
    expect(await admit(own, TIMEOUT)).toEqual({ rate: SLOW, burst: 1, remaining: 0 });
    expect(await endOf(admit(own, TIMEOUT))).toBe('RATE_LIMITED');
    expect(await endOf(admit(byKey, TIMEOUT))).toBe('admitted');
  });

  test('without a limit nothing is reported', async () => {
    const caller = callerOf('unlimited', { rate: 0 });
    expect(await admitWith('off', DEFAULTS)({ ...request(), caller }, TIMEOUT)).toBeUndefined();
  });
});
