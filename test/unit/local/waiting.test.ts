import { setTimeout as sleep } from 'node:timers/promises';
import { untilReady } from '../../../tools/local/waiting';

const never = new Promise<string>(() => {});

test('a long wait is told of while it lasts', async () => {
  let isReady = false;
  const told: number[] = [];
  const ready = untilReady({
    ...{ probe: async () => isReady, exited: never, deadlineMs: 60_000 },
    onWait: (seconds) => {
      told.push(seconds);
      isReady = true;
    },
  });
  expect(await ready).toBeUndefined();
  expect(told).toHaveLength(1);
  expect(told[0]).toBeGreaterThanOrEqual(5);
});

test('a process that ends is not waited for', async () => {
  const exited = sleep(20).then(() => 'exit code 3');
  const ready = untilReady({ probe: async () => false, exited, deadlineMs: 60_000 });
  expect(await ready).toBe('it ended with exit code 3');
});
