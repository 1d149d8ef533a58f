/** The ends that an ingress puts to pushes: heard or not, the log gets them. */
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { createEndings, type Endings } from '../../src/ingress/endings';
import type { Finalize } from '../../src/push-log/finalize';
import type { SettledPush } from '../../src/push-log/log';
import type { Settlement } from '../../src/push-log/settlement';
import { until } from '../support/wait';

const EXPIRED: Settlement = { state: 'EXPIRED' };
const PERSISTED: Settlement = { state: 'PERSISTED', outcome: 'CREATED', matterId: '1' };
const push = (id: string): SettledPush => ({ id, settlement: EXPIRED });

let endings: Endings;
afterEach(() => endings.stop());

/** A log that answers as it is told, and what it was asked. */
function ending(answer: (asked: readonly string[]) => Promise<Settlement | undefined>) {
  const asked: string[][] = [];
  const finalize: Finalize = async (pushes) => {
    const ids = pushes.map(({ id }) => id);
    asked.push(ids);
    const settlement = await answer(ids);
    return pushes.map((one) => settlement ?? one.settlement);
  };
  const logger = pino({ level: 'silent' });
  endings = createEndings({ finalize, name: 'web', clock: Date.now, logger });
  return asked;
}

test('an end is told as the log has it, and asked for once', async () => {
  const asked = ending(async () => PERSISTED);
  expect(await endings.end(push('a'), Date.now() + 1_000)).toEqual(PERSISTED);
  await sleep(1_000);
  expect(asked).toEqual([['a']]);
});

test('those of a moment are asked for together', async () => {
  const asked = ending(async () => undefined);
  const soon = Date.now() + 1_000;
  expect(await Promise.all([endings.end(push('a'), soon), endings.end(push('b'), soon)])).toEqual([
    EXPIRED,
    EXPIRED,
  ]);
  expect(asked).toEqual([['a', 'b']]);
});

test('where the database is away nobody is told anything, and it is asked again until it is back', async () => {
  let isAway = true;
  const asked = ending(async () => {
    if (isAway) throw new Error('no primary');
    return undefined;
  });
  expect(await endings.end(push('a'), Date.now() + 1_000)).toBeUndefined();
  await until('a second try', async () => asked.length > 1);
  isAway = false;
  const tries = asked.length;
  await until('one more try', async () => asked.length > tries);
  const done = asked.length;
  await sleep(1_200);
  expect(asked.length).toBe(done);
});

test('an answer that comes too late for its caller is asked for again, since it may be lost', async () => {
  let isSlow = true;
  const asked = ending(async () => {
    if (isSlow) await sleep(400);
    isSlow = false;
    return undefined;
  });
  expect(await endings.end(push('a'), Date.now())).toBeUndefined();
  await until('the second question', async () => asked.length === 2);
  expect(asked).toEqual([['a'], ['a']]);
});

test('pushes that somebody holds do not keep the others from being asked again', async () => {
  const HELD = 500;
  const ended: string[] = [];
  let isAway = true;
  const finalize: Finalize = async (pushes) => {
    if (isAway) throw new Error('no primary');
    ended.push(...pushes.map(({ id }) => id).filter((id) => !id.startsWith('held')));
    return pushes.map(({ id }) => (id.startsWith('held') ? undefined : EXPIRED));
  };
  const logger = pino({ level: 'silent' });
  endings = createEndings({ finalize, name: 'web', clock: Date.now, logger });
  const ids = [...Array.from({ length: HELD }, (_, index) => `held-${index}`), 'free'];
  await Promise.all(ids.map((id) => endings.end(push(id), Date.now())));
  isAway = false;
  await until('the free one is ended', async () => ended.includes('free'));
});
