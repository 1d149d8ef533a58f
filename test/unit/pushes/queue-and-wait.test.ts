/** What a caller is told where the queue fails: never a guess. */
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { PushFinalizer } from '../../../src/pushes/lost-replies';
import {
  createQueueAndWait,
  type QueueAndWaitDependencies,
} from '../../../src/pushes/queue-and-wait';
import type { Enqueued } from '../../../src/queue/producer';
import type { PushMessage } from '../../../src/queue/records';
import type { Finalize, PushToSettle, Settlement } from '../../../src/storage/push-log';
import { aPush } from '../../support/builders';
import { aLogEntry } from '../../support/log-entries';

const PERSISTED: Settlement = { state: 'PERSISTED', outcome: 'CREATED', matterId: '1' };
const push = aPush();

const open: PushFinalizer[] = [];
afterAll(() => Promise.allSettled(open.map((finalizer) => finalizer.stop())));

/** By default the queue fails. `finalize` gives the answers of the log. */
function settling(finalize: Finalize, enqueued: Enqueued = new Error('the connection is closed')) {
  const waiters = new Map<string, (settlements: (Settlement | undefined)[]) => void>();
  const deliver = (id: string, settlement: Settlement | undefined) => {
    waiters.get(id)?.([settlement]);
    waiters.delete(id);
  };
  const inbox: QueueAndWaitDependencies['inbox'] = {
    wait: ([id = ''], timeout) =>
      new Promise((resolve) => {
        waiters.set(id, resolve);
        setTimeout(() => deliver(id, undefined), timeout).unref();
      }),
    waitingFor: () => [],
    deliver,
    get size() {
      return waiters.size;
    },
  };
  const queue = { enqueue: async () => [enqueued] };
  const logger = pino({ level: 'silent' });
  const finalizer = new PushFinalizer({ finalize, name: 'web', clock: Date.now, logger });
  open.push(finalizer);
  const settleAll = createQueueAndWait({ queue, inbox, finalizer, clock: Date.now, logger });
  const settle = async (message: PushMessage, deadline: number) =>
    (await settleAll([{ message, entry: aLogEntry() }], deadline))[0];
  return { settle, inbox };
}

const isDown = async () => Promise.reject(new Error('no primary'));

test('a push that cannot be queued is finalized in the log as rejected', async () => {
  const { settle, inbox } = settling(async (ended) => ended.map(({ settlement }) => settlement));
  const settlement = await settle(push, Date.now() + 60_000);
  expect(settlement).toEqual({ state: 'REFUSED', reason: 'QUEUE_UNAVAILABLE' });
  expect(inbox.size).toBe(0);
});

test('a settlement that a worker wrote first counts', async () => {
  const { settle } = settling(async () => [PERSISTED]);
  expect(await settle(push, Date.now() + 60_000)).toEqual(PERSISTED);
});

test('while the log is away too, the reply of a worker is waited for', async () => {
  const { settle, inbox } = settling(isDown);
  const settlement = settle(push, Date.now() + 60_000);
  setTimeout(() => inbox.deliver(push.id, PERSISTED), 100);
  expect(await settlement).toEqual(PERSISTED);
});

test('a log that answers late still gives the final state, long before the deadline', async () => {
  const { settle, inbox } = settling(async (ended) => {
    await sleep(900);
    return ended.map(({ settlement }) => settlement);
  });
  const settlement = await settle(push, Date.now() + 60_000);
  expect(settlement).toEqual({ state: 'REFUSED', reason: 'QUEUE_UNAVAILABLE' });
  expect(inbox.size).toBe(0);
});

test('while the log does not answer, the reply of a worker counts', async () => {
  let answer: (settlements: Settlement[]) => void = () => {};
  const { settle, inbox } = settling(
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  );
  const settlement = settle(push, Date.now() + 60_000);
  setTimeout(() => inbox.deliver(push.id, PERSISTED), 100);
  expect(await settlement).toEqual(PERSISTED);
  answer([PERSISTED]);
});

test('and at the deadline nobody says that it was rejected', async () => {
  const { settle } = settling(isDown);
  expect(await settle(push, Date.now() + 200)).toBeUndefined();
});

test.each<Settlement>([
  { state: 'EXPIRED' },
  { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' },
  { state: 'REFUSED', reason: 'OPERATION_FAILED' },
  { state: 'REFUSED', reason: 'QUEUE_UNAVAILABLE' },
  { state: 'REFUSED', reason: 'SKIPPED_AFTER_FAILURE' },
])('a push that ended with %j may have no entry, so it is finalized in the log', async (reply) => {
  const finalized: PushToSettle[] = [];
  const { settle, inbox } = settling(async (ended) => {
    finalized.push(...ended);
    return ended.map(({ settlement }) => settlement);
  }, 'APPENDED');
  const settlement = settle(push, Date.now() + 60_000);
  inbox.deliver(push.id, reply);
  expect(await settlement).toEqual(reply);
  expect(finalized).toMatchObject([{ id: push.id, settlement: reply, entry: { state: 'QUEUED' } }]);
});

test('a push that took effect has its entry, so it is not finalized again', async () => {
  const { settle, inbox } = settling(() => Promise.reject(new Error('asked in vain')), 'APPENDED');
  const settlement = settle(push, Date.now() + 60_000);
  inbox.deliver(push.id, PERSISTED);
  expect(await settlement).toEqual(PERSISTED);
});
