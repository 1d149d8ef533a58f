/** Background work goes on, never twice at once, until it is stopped. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startPollLoop } from '../../../src/concurrency/timing';

test('work runs again and again, also after a failure that is told, until it is stopped', async () => {
  const errors: unknown[] = [];
  let runs = 0;
  let third = () => {};
  const ranThrice = new Promise<void>((resolve) => {
    third = resolve;
  });
  const work = async () => {
    runs += 1;
    if (runs === 3) third();
    if (runs === 1) throw new Error('first');
  };
  const loop = startPollLoop(work, 1, (error) => errors.push(error));
  await ranThrice;
  await loop.stop();
  expect(errors).toEqual([new Error('first')]);
  const stoppedAt = runs;
  await sleep(20);
  expect(runs).toBe(stoppedAt);
});

test('a run is never begun while one is under way, and a stop waits for it', async () => {
  let atOnce = 0;
  let most = 0;
  let finished = 0;
  const work = async () => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    await sleep(10);
    atOnce -= 1;
    finished += 1;
  };
  const loop = startPollLoop(work, 1, () => {});
  await sleep(35);
  const begun = finished + atOnce;
  await loop.stop();
  expect(most).toBe(1);
  expect(atOnce).toBe(0);
  expect(finished).toBeGreaterThanOrEqual(begun);
});

test('a stop does not wait for the pause between runs', async () => {
  let runs = 0;
  const work = async () => {
    runs += 1;
  };
  const loop = startPollLoop(work, 3_600_000, () => {});
  await sleep(0);
  await loop.stop();
  expect(runs).toBe(1);
});
