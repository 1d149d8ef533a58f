/** Every push that a web process gives up on gets a final state in the log, at once or later. */
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { PushFinalizer } from '../../../src/pushes/finalize-push';
import type { Finalize } from '../../../src/storage/push-log/finalize';
import type { SettledPush } from '../../../src/storage/push-log/log';
import type { Settlement } from '../../../src/storage/push-log/settlement';
import { until } from '../../support/wait';

const EXPIRED: Settlement = { state: 'EXPIRED' };
const PERSISTED: Settlement = { state: 'PERSISTED', outcome: 'CREATED', matterId: '1' };
const push = (id: string): SettledPush => ({ id, settlement: EXPIRED });

let finalizer: PushFinalizer;
afterEach(() => finalizer.stop());

/** A log that answers as it is told, and what it was asked. */
function finalizerOver(answer: (asked: readonly string[]) => Promise<Settlement | undefined>) {
  const asked: string[][] = [];
  const finalize: Finalize = async (pushes) => {
    const ids = pushes.map(({ id }) => id);
    asked.push(ids);
    const settlement = await answer(ids);
    return pushes.map((one) => settlement ?? one.settlement);
  };
  const logger = pino({ level: 'silent' });
  finalizer = new PushFinalizer({ finalize, name: 'web', clock: Date.now, logger });
  return asked;
}

test('a caller gets the final state of the log, which is read once', async () => {
  const asked = finalizerOver(async () => PERSISTED);
  expect(await finalizer.finalize(push('a'), Date.now() + 1_000)).toEqual(PERSISTED);
  await sleep(1_000);
  expect(asked).toEqual([['a']]);
});

test('pushes of one moment are finalized together', async () => {
  const asked = finalizerOver(async () => undefined);
  const soon = Date.now() + 1_000;
  expect(
    await Promise.all([finalizer.finalize(push('a'), soon), finalizer.finalize(push('b'), soon)]),
  ).toEqual([EXPIRED, EXPIRED]);
  expect(asked).toEqual([['a', 'b']]);
});

test('while the database is away no caller gets a final state, and the push is retried', async () => {
  let isAway = true;
  const asked = finalizerOver(async () => {
    if (isAway) throw new Error('no primary');
    return undefined;
  });
  expect(await finalizer.finalize(push('a'), Date.now() + 1_000)).toBeUndefined();
  await until('a second try', async () => asked.length > 1);
  isAway = false;
  const tries = asked.length;
  await until('one more try', async () => asked.length > tries);
  const done = asked.length;
  await sleep(1_200);
  expect(asked.length).toBe(done);
});

test('a final state that comes too late for its caller is read again, since it may be lost', async () => {
  let isSlow = true;
  const asked = finalizerOver(async () => {
    if (isSlow) await sleep(400);
    isSlow = false;
    return undefined;
  });
  expect(await finalizer.finalize(push('a'), Date.now())).toBeUndefined();
  await until('the second question', async () => asked.length === 2);
  expect(asked).toEqual([['a'], ['a']]);
});

test('pushes that a transaction holds do not keep the others from being retried', async () => {
  const HELD = 500;
  const finalized: string[] = [];
  let isAway = true;
  const finalize: Finalize = async (pushes) => {
    if (isAway) throw new Error('no primary');
    finalized.push(...pushes.map(({ id }) => id).filter((id) => !id.startsWith('held')));
    return pushes.map(({ id }) => (id.startsWith('held') ? undefined : EXPIRED));
  };
  const logger = pino({ level: 'silent' });
  finalizer = new PushFinalizer({ finalize, name: 'web', clock: Date.now, logger });
  const ids = [...Array.from({ length: HELD }, (_, index) => `held-${index}`), 'free'];
  await Promise.all(ids.map((id) => finalizer.finalize(push(id), Date.now())));
  isAway = false;
  await until('the free push is finalized', async () => finalized.includes('free'));
});
