/** What a caller is told where the queue fails: never a guess. */
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { createEndings, type Endings } from '../../src/ingress/endings';
import { createSettlePush, type SettleDependencies } from '../../src/ingress/settle-push';
import type { Finalize } from '../../src/push-log/finalize';
import type { Settlement } from '../../src/push-log/settlement';
import { aPush } from '../support/builders';

const PERSISTED: Settlement = { state: 'PERSISTED', outcome: 'CREATED', matterId: '1' };
const push = aPush();

const open: Endings[] = [];
afterAll(() => Promise.allSettled(open.map((endings) => endings.stop())));

/** The queue does not answer; the log answers as it is told. */
function settling(finalize: Finalize) {
  const waiters = new Map<string, (settlement: Settlement | undefined) => void>();
  const deliver = (id: string, settlement: Settlement | undefined) => {
    waiters.get(id)?.(settlement);
    waiters.delete(id);
  };
  const inbox: SettleDependencies['inbox'] = {
    wait: (id, timeout) =>
      new Promise((resolve) => {
        waiters.set(id, resolve);
        setTimeout(() => deliver(id, undefined), timeout).unref();
      }),
    overdue: () => [],
    deliver,
    get size() {
      return waiters.size;
    },
  };
  const queue = { enqueue: async () => Promise.reject(new Error('the connection is closed')) };
  const logger = pino({ level: 'silent' });
  const about = { ingressId: 'web', name: 'web', clock: Date.now, logger };
  const endings = createEndings({ ...about, finalize });
  open.push(endings);
  const settle = createSettlePush({ ...about, queue, inbox, endings });
  return { settle, inbox };
}

const isDown = async () => Promise.reject(new Error('no primary'));

test('a push that cannot be queued is ended in the log, and refused', async () => {
  const { settle, inbox } = settling(async (ended) => ended.map(({ settlement }) => settlement));
  const settlement = await settle(push, Date.now() + 5_000);
  expect(settlement).toEqual({ state: 'REFUSED', reason: 'QUEUE_UNAVAILABLE' });
  expect(inbox.size).toBe(0);
});

test('where a worker was first all the same, its word counts', async () => {
  const { settle } = settling(async () => [PERSISTED]);
  expect(await settle(push, Date.now() + 5_000)).toEqual(PERSISTED);
});

test('where the log cannot be asked either, the reply of a worker is waited for', async () => {
  const { settle, inbox } = settling(isDown);
  const settlement = settle(push, Date.now() + 5_000);
  setTimeout(() => inbox.deliver(push.id, PERSISTED), 100);
  expect(await settlement).toEqual(PERSISTED);
});

test('where the log answers late, its word still counts, and long before the deadline', async () => {
  const { settle, inbox } = settling(async (ended) => {
    await sleep(900);
    return ended.map(({ settlement }) => settlement);
  });
  const settlement = await settle(push, Date.now() + 60_000);
  expect(settlement).toEqual({ state: 'REFUSED', reason: 'QUEUE_UNAVAILABLE' });
  expect(inbox.size).toBe(0);
});

test('and while it does not answer, that of a worker does', async () => {
  const { settle, inbox } = settling(() => new Promise(() => undefined));
  const settlement = settle(push, Date.now() + 2_000);
  setTimeout(() => inbox.deliver(push.id, PERSISTED), 100);
  expect(await settlement).toEqual(PERSISTED);
});

test('and at the deadline nobody says that it was refused', async () => {
  const { settle } = settling(isDown);
  expect(await settle(push, Date.now() + 200)).toBeUndefined();
});
