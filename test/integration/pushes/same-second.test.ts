/**
 * Operations with the same body in the same second have the same signature. Each gets the answer of
 * the contract all the same; a captured one is good for nothing else once the grace is over.
 */

import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import type { Answer, PushOptions } from '../../support/pusher';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

let service: Service;
/** A web on the same servers, for which every grace is over. */
let strict: string;
/** And one that remembers nothing. */
let careless: string;
beforeAll(async () => {
  // As long as it may be: no grace is over on a slow machine.
  service = await startService({ env: { SIGNATURE_GRACE: '10m' } });
  await service.startWeb({ SIGNATURE_GRACE: '0' });
  await service.startWeb({ SIGNATURE_GRACE: 'off' });
  strict = service.urlOf(1);
  careless = service.urlOf(2);
});
afterAll(() => service.stop());

const secondsAgo = (seconds: number) => String(Math.floor(Date.now() / 1000) - seconds);
const ended = ({ code, reason, data }: Answer) => `${code} ${reason ?? data.outcome}`;

const OPERATIONS = ['upsert', 'status', 'reopen', 'delete'] as const;
type Operation = (typeof OPERATIONS)[number];
const STATES = ['missing', 'there', 'deleted'] as const;
type State = (typeof STATES)[number];

/** The contract, word for word and apart from the code: what an operation meets, what it leaves. */
const CONTRACT: Record<State, Record<Operation, [answer: string, left: State]>> = {
  missing: {
    upsert: ['0 CREATED', 'there'],
    status: ['404 MATTER_NOT_FOUND', 'missing'],
    reopen: ['404 MATTER_NOT_FOUND', 'missing'],
    delete: ['404 MATTER_NOT_FOUND', 'missing'],
  },
  there: {
    upsert: ['0 UPDATED', 'there'],
    status: ['0 UPDATED', 'there'],
    reopen: ['0 UPDATED', 'there'],
    delete: ['0 DELETED', 'deleted'],
  },
  deleted: {
    upsert: ['0 REVIVED', 'there'],
    status: ['404 MATTER_DELETED', 'deleted'],
    reopen: ['404 MATTER_DELETED', 'deleted'],
    delete: ['0 ALREADY_DELETED', 'deleted'],
  },
};

function orders<T>(of: readonly T[]): T[][] {
  if (of.length < 2) return [[...of]];
  return of.flatMap((first) =>
    orders(of.filter((other) => other !== first)).map((rest) => [first, ...rest]),
  );
}

describe.each(STATES)('a matter that is %s', (state) => {
  test('answers all four operations with one signature by the contract, in every order', async () => {
    const told = await Promise.all(
      orders(OPERATIONS).map(async (order) => {
        const externalId = `${state}-${order.join('-')}`;
        const body = { externalId, matterType: 'TODO', title: 'same', bizStatus: 'PROCESSING' };
        const before = secondsAgo(9);
        if (state !== 'missing') await service.push('upsert', body, { timestamp: before });
        if (state === 'deleted') await service.push('delete', body, { timestamp: before });
        const timestamp = secondsAgo(3);
        const answers: string[] = [];
        // The first one once more at the end: a retry.
        for (const operation of [...order, ...order.slice(0, 1)]) {
          answers.push(ended(await service.push(operation, body, { timestamp })));
        }
        return [order, answers];
      }),
    );
    expect(told).toEqual(orders(OPERATIONS).map((order) => [order, byContract(state, order)]));
  });
});

function byContract(state: State, order: readonly Operation[]): string[] {
  let now = state;
  return [...order, ...order.slice(0, 1)].map((operation) => {
    const [answer, left] = CONTRACT[now][operation];
    now = left;
    return answer;
  });
}

test('A, B and A again within a second are three pushes, though two have one signature', async () => {
  const timestamp = secondsAgo(3);
  await service.push('upsert', { externalId: 'ABA', matterType: 'TODO', title: 'x' });
  for (const bizStatus of ['PENDING', 'PROCESSING', 'PENDING']) {
    const answer = await service.push('status', { externalId: 'ABA', bizStatus }, { timestamp });
    expect(ended(answer)).toBe('0 UPDATED');
  }
  expect(await matter('ABA')).toMatchObject({ bizStatus: 'PENDING' });
});

const matter = (externalId: string) => matterModel(service.db).findOne({ externalId }).lean();

/** A status of before, and what came after it: the matter is APPROVED. */
async function captureStatus(externalId: string, idempotencyKey: string | undefined) {
  await service.push('upsert', { externalId, matterType: 'TODO', title: 'x' });
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  const timestamp = secondsAgo(4);
  const body = { externalId, bizStatus: 'PENDING' };
  const first = await service.push('status', body, { timestamp, ...key });
  expect(ended(first)).toBe('0 UPDATED');
  await service.push('status', { externalId, bizStatus: 'APPROVED' });
  return (operation: string, url: string, options: Partial<PushOptions> = {}) =>
    service.push(operation, body, { url, timestamp, ...options });
}

describe('a captured push', () => {
  test.each<[string, string | undefined, string, Partial<PushOptions>]>([
    ['without its key', 'K1', 'status', {}],
    ['with another key', 'K1', 'status', { idempotencyKey: 'K2' }],
    ['with a key that it did not have', undefined, 'status', { idempotencyKey: 'K2' }],
    ['with a key that is none', 'K1', 'status', { headers: { 'X-Idempotency-Key': 'ü' } }],
    ['with its key, to another operation', 'K1', 'delete', { idempotencyKey: 'K1' }],
    ['without a key, to another operation', undefined, 'delete', {}],
  ])('%s takes no second effect after the grace', async (what, key, operation, options) => {
    const externalId = `CAPTURED ${what}`;
    const send = await captureStatus(externalId, key);
    const again = await send(operation, strict, options);
    expect(again).toMatchObject({ code: 401, reason: 'SIGNATURE_REUSED', retryable: true });
    expect(await matter(externalId)).toMatchObject({ bizStatus: 'APPROVED', deleted: false });
    // Recorded in the background, and nobody can have it sent again from there.
    const entry = await until('its entry', () =>
      entryModel(service.db).findById(again.requestId).lean(),
    );
    expect(entry).toMatchObject({ state: 'REFUSED', result: 'SIGNATURE_REUSED' });
  });

  test('as it was is a retry, also after the grace', async () => {
    const send = await captureStatus('RETRIED', 'K1');
    const again = await send('status', strict, { idempotencyKey: 'K1' });
    expect(ended(again)).toBe('0 UPDATED');
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(await matter('RETRIED')).toMatchObject({ bizStatus: 'APPROVED' });
  });

  test('is what it is where nothing is remembered', async () => {
    const send = await captureStatus('CARELESS', 'K1');
    expect(ended(await send('delete', careless))).toBe('0 DELETED');
  });

  test('a notice without an id stays one, whatever key it is sent with', async () => {
    const timestamp = secondsAgo(4);
    const body = { matterType: 'NOTICE', title: 'only once' };
    const first = await service.push('upsert', body, { timestamp });
    expect(ended(first)).toBe('0 CREATED');
    for (const idempotencyKey of ['K1', 'K2', 'K3']) {
      const again = await service.push('upsert', body, { url: strict, timestamp, idempotencyKey });
      expect(ended(again)).toBe('401 SIGNATURE_REUSED');
    }
    const retried = await service.push('upsert', body, { url: strict, timestamp });
    expect(retried.data.externalId).toBe(first.data.externalId);
    expect(await matterModel(service.db).countDocuments({ title: 'only once' })).toBe(1);
  });
});
