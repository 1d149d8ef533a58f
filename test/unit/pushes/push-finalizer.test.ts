/** Every push that a web process gives up on gets a final state in the log, at once or later. */
import pino from 'pino';
import { PushFinalizer } from '../../../src/pushes/lost-replies';
import type { Finalize, PushToSettle, Settlement } from '../../../src/storage/push-log';
import { aLogEntry } from '../../support/log-entries';
import { until } from '../../support/wait';

const EXPIRED: Settlement = { state: 'EXPIRED' };
const PERSISTED: Settlement = { state: 'PERSISTED', outcome: 'CREATED', matterId: '1' };
const push = (id: string): PushToSettle => ({ id, settlement: EXPIRED });
const inTime = () => Date.now() + 120_000;
/** The first question about it fails. */
const LATER = 'later';

let finalizer: PushFinalizer;
afterEach(() => finalizer.stop());

/** A log that answers as it is told, and what it was asked. */
function finalizerOver(answer: (asked: readonly string[]) => Promise<Settlement | undefined>) {
  const asked: string[][] = [];
  const finalize: Finalize = async (pushes) => {
    const ids = pushes.map(({ id }) => id);
    asked.push(ids);
    if (ids.includes(LATER) && timesOf(LATER, asked) === 1) throw new Error('no primary');
    const settlement = await answer(ids);
    return pushes.map((one) => settlement ?? one.settlement);
  };
  const logger = pino({ level: 'silent' });
  finalizer = new PushFinalizer({ finalize, name: 'web', clock: Date.now, logger });
  return asked;
}

const timesOf = (id: string, asked: readonly string[][]) =>
  asked.filter((ids) => ids.includes(id)).length;

/** Until the finalizer has asked once more about everything whose final state it does not know. */
async function untilRetried(asked: readonly string[][]): Promise<void> {
  expect(await finalizer.finalize(push(LATER), inTime())).toBeUndefined();
  await until('a retry', async () => timesOf(LATER, asked) === 2);
}

test('a caller gets the final state of the log, which is read once', async () => {
  const asked = finalizerOver(async () => PERSISTED);
  expect(await finalizer.finalize(push('a'), inTime())).toEqual(PERSISTED);
  await untilRetried(asked);
  expect(timesOf('a', asked)).toBe(1);
});

test('pushes of one moment are finalized together', async () => {
  const asked = finalizerOver(async () => undefined);
  const soon = inTime();
  expect(
    await Promise.all([finalizer.finalize(push('a'), soon), finalizer.finalize(push('b'), soon)]),
  ).toEqual([EXPIRED, EXPIRED]);
  expect(asked).toEqual([['a', 'b']]);
});

test('while the database is away no caller gets a final state, and the push is retried', async () => {
  let isUnavailable = true;
  const asked = finalizerOver(async () => {
    if (isUnavailable) throw new Error('no primary');
    return undefined;
  });
  expect(await finalizer.finalize(push('a'), inTime())).toBeUndefined();
  await until('a second try', async () => asked.length > 1);
  isUnavailable = false;
  const tries = asked.length;
  await until('one more try', async () => asked.length > tries);
  const done = timesOf('a', asked);
  await untilRetried(asked);
  expect(timesOf('a', asked)).toBe(done);
});

test('a final state that comes too late for its caller is read again, since it may be lost', async () => {
  let answer = () => {};
  const late = new Promise<undefined>((resolve) => {
    answer = () => resolve(undefined);
  });
  const asked = finalizerOver(() => late);
  expect(await finalizer.finalize(push('a'), Date.now())).toBeUndefined();
  answer();
  await until('the second question', async () => asked.length === 2);
  expect(asked).toEqual([['a'], ['a']]);
});

test('pushes that a transaction holds do not keep the others from being retried', async () => {
  const HELD = 500;
  const finalized: string[] = [];
  let isUnavailable = true;
  const finalize: Finalize = async (pushes) => {
    if (isUnavailable) throw new Error('no primary');
    finalized.push(...pushes.map(({ id }) => id).filter((id) => !id.startsWith('held')));
    return pushes.map(({ id }) => (id.startsWith('held') ? undefined : EXPIRED));
  };
  const logger = pino({ level: 'silent' });
  finalizer = new PushFinalizer({ finalize, name: 'web', clock: Date.now, logger });
  const ids = [...Array.from({ length: HELD }, (_, index) => `held-${index}`), 'free'];
  await Promise.all(ids.map((id) => finalizer.finalize(push(id), Date.now())));
  isUnavailable = false;
  await until('the free push is finalized', async () => finalized.includes('free'));
});

test('the entry of a push is kept for the retry, although a later call does not know it', async () => {
  let isUnavailable = true;
  const retried: PushToSettle[] = [];
  const finalize: Finalize = async (pushes) => {
    if (isUnavailable) throw new Error('no primary');
    retried.push(...pushes);
    return pushes.map(({ settlement }) => settlement);
  };
  const logger = pino({ level: 'silent' });
  finalizer = new PushFinalizer({ finalize, name: 'web', clock: Date.now, logger });
  const entry = aLogEntry();
  await finalizer.finalize({ ...push('a'), entry }, Date.now());
  await finalizer.finalize(push('a'), Date.now());
  isUnavailable = false;
  await until('the retry', async () => retried.length > 0);
  expect(retried).toEqual([{ ...push('a'), entry }]);
});
