/** However often a process is asked whether it is ready, it pings its servers at a bounded rate. */
import { createHealthProbe } from '../../../src/http/health';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

function probe() {
  const up = { database: true, schema: true, paused: false };
  const pingDatabase = jest.fn(async () => {});
  const pingQueue = jest.fn(async () => {});
  const isDatabaseUp = () => up.database;
  const health = createHealthProbe({
    isDatabaseUp,
    isQueueUp: () => true,
    isPrepared: () => up.schema,
    isQueuePaused: () => up.paused,
    probeDatabase: pingDatabase,
    probeQueue: pingQueue,
  });
  return { up, health, pingDatabase, pingQueue };
}

/** So many ask, spread over this time. */
async function ask({ health }: ReturnType<typeof probe>, times: number, within: number) {
  for (let n = 0; n < times; n += 1) {
    await health.ready().catch(() => undefined);
    jest.advanceTimersByTime(within / times);
  }
}

test('a thousand at a time share one round trip to each server', async () => {
  const { health, pingDatabase, pingQueue } = probe();
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => health.ready()));
  expect(answers).toEqual(Array(1_000).fill({ status: 'ready' }));
  for (const ping of [pingDatabase, pingQueue]) expect(ping).toHaveBeenCalledTimes(1);
});

test.each([
  ['that answer', undefined],
  ['that fail', new Error('no')],
])('a thousand in a second cost servers %s a handful of round trips', async (_what, error) => {
  const rig = probe();
  if (error) rig.pingQueue.mockRejectedValue(error);
  await ask(rig, 1_000, 1_000);
  for (const ping of [rig.pingDatabase, rig.pingQueue]) {
    expect(ping.mock.calls.length).toBeGreaterThanOrEqual(3);
    expect(ping.mock.calls.length).toBeLessThanOrEqual(5);
  }
});

test('what fails is told, and after a moment that it works again', async () => {
  const { health, pingQueue } = probe();
  pingQueue.mockRejectedValueOnce(new Error('no'));
  await expect(health.ready()).rejects.toMatchObject({ reason: 'QUEUE_UNAVAILABLE' });
  jest.advanceTimersByTime(250);
  await expect(health.ready()).resolves.toEqual({ status: 'ready' });
});

test('a server that is silent is no longer believed, and again when it speaks', async () => {
  const { health, pingDatabase } = probe();
  await health.ready();
  pingDatabase.mockReturnValue(new Promise(() => {}));
  jest.advanceTimersByTime(250);
  const answer = expect(health.ready()).rejects.toMatchObject({ reason: 'DATABASE_UNAVAILABLE' });
  await jest.advanceTimersByTimeAsync(2_000);
  await answer;
  pingDatabase.mockResolvedValue(undefined);
  await expect(health.ready()).resolves.toEqual({ status: 'ready' });
});

test('what is known without asking is told at once', async () => {
  const { health, up, pingDatabase } = probe();
  await health.ready();
  up.database = false;
  await expect(health.ready()).rejects.toMatchObject({ reason: 'DATABASE_UNAVAILABLE' });
  up.database = true;
  up.schema = false;
  await expect(health.ready()).rejects.toMatchObject({ reason: 'DATABASE_NOT_PREPARED' });
  up.schema = true;
  up.paused = true;
  await expect(health.ready()).rejects.toMatchObject({ reason: 'QUEUE_UNAVAILABLE' });
  up.paused = false;
  health.drain();
  await expect(health.ready()).rejects.toMatchObject({ reason: 'SHUTTING_DOWN' });
  expect(pingDatabase).toHaveBeenCalledTimes(1);
});
