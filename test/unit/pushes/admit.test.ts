/** Admission: whose rate holds, and what a client is told of it. */

import { createAdmit } from '../../../src/pushes/admit';
import type { Admission, AdmissionRequest, RateLimit } from '../../../src/queue/admission';
import { checkRateOverride, type RateOverride } from '../../../src/storage/directory/rate-override';

const DEFAULTS = { rate: 200, burst: 400 };
const OF_QUERY_KEYS = { rate: 20, burst: 100 };

/** Asks for one request; `asked` is the rate that the queue is told. */
async function admit(answer: Admission, limit?: RateOverride) {
  let asked: RateLimit | undefined;
  const ask = async (request: { limit: RateLimit }) => {
    asked = request.limit;
    return answer;
  };
  const caller = { clientId: 'oa', systemCode: 'OA', secretId: 's', ...(limit && { limit }) };
  const request = { caller, path: '/x', signature: 'ab', timestamp: 1 };
  const told = await createAdmit(
    ask,
    DEFAULTS,
    OF_QUERY_KEYS,
  )(request, 1_000).catch((error) => error);
  return { asked, told };
}

test.each<[string, RateOverride | undefined, RateLimit]>([
  ['none of its own', undefined, DEFAULTS],
  ['an empty one', {}, DEFAULTS],
  ['both', { rate: 5, burst: 7 }, { rate: 5, burst: 7 }],
  ['a rate', { rate: 5 }, { rate: 5, burst: 400 }],
  ['a burst', { burst: 7 }, { rate: 200, burst: 7 }],
  ['no limit', { rate: 0 }, { rate: 0, burst: 400 }],
])('a client with %s: that is asked for, and told', async (_, own, limit) => {
  const admitted = await admit({ kind: 'admitted', remaining: 3 }, own);
  expect(admitted).toEqual({ asked: limit, told: { ...limit, remaining: 3 } });
  const rejected = await admit({ kind: 'rate-limited', retryAfter: 1_500 }, own);
  expect(rejected.told).toMatchObject({ reason: 'RATE_LIMITED', retryAfter: 2 });
  expect(rejected.told.rate).toEqual({ ...limit, remaining: 0 });
});

test('a query key has a rate of its own, whatever its client has', async () => {
  const asked: unknown[] = [];
  const ask = async (request: AdmissionRequest): Promise<Admission> => {
    asked.push([request.clientId, request.rateOf, request.limit]);
    return { kind: 'admitted' };
  };
  const client = { clientId: 'oa', systemCode: 'OA', limit: { rate: 1, burst: 1 } };
  const queryKey = { mayPush: true, endsAt: 1 };
  const admitted = createAdmit(ask, DEFAULTS, OF_QUERY_KEYS);
  const request = { path: '/x', signature: 'ab', timestamp: 1 };
  await admitted({ ...request, caller: { ...client, secretId: 'k', queryKey } }, 1_000);
  await admitted({ ...request, caller: { ...client, secretId: 's' } }, 1_000);
  expect(asked).toEqual([
    ['oa', 'oa k', OF_QUERY_KEYS],
    ['oa', 'oa', { rate: 1, burst: 1 }],
  ]);
});

test('without a limit nothing is told', async () => {
  expect((await admit({ kind: 'admitted' }, { rate: 0 })).told).toBeUndefined();
});

test.each<[RateOverride]>([[{}], [{ rate: 0 }], [{ rate: 1_000_000, burst: 1 }], [{ burst: 1e6 }]])(
  '%j may stand in a record',
  (limit) => {
    expect(checkRateOverride(limit)).toEqual(limit);
  },
);

test.each([
  [{ rate: -1 }],
  [{ rate: 1.5 }],
  [{ rate: 1_000_001 }],
  [{ rate: '5' }],
  [{ rate: null }],
  [{ rate: Number.NaN }],
  [{ burst: 0 }],
  [{ burst: 1_000_001 }],
  [{ rate: 5, burst: {} }],
])('%j may not', (limit) => {
  expect(() => checkRateOverride(limit as unknown as RateOverride)).toThrow(RangeError);
});
