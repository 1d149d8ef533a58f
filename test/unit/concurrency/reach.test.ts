/** Calls to a server that is lost end when that is noticed. */
import { createReach, type Reach } from '../../../src/concurrency/reach';
import { until } from '../../support/wait';

let isAway: boolean;
let log: string[];
let reach: Reach & { stop(): Promise<void> };
beforeEach(() => {
  [isAway, log] = [false, []];
  reach = createReach({
    ping: async () => {
      if (isAway) throw new Error('refused');
    },
    onLost: (error) => log.push(`lost: ${error}`),
    onBack: () => log.push('back'),
    whileLost: async () => void log.push('still lost'),
    onError: (error) => log.push(String(error)),
  });
});
afterEach(() => reach.stop());

const never = new Promise<string>(() => undefined);

test('a call that hangs ends, and the next ones at once, until the server answers again', async () => {
  expect(await reach.guard(Promise.resolve('answer'))).toBe('answer');
  await expect(reach.guard(Promise.reject(new Error('its own')))).rejects.toThrow('its own');
  const hanging = reach.guard(never);
  isAway = true;
  await expect(hanging).rejects.toThrow('no ping succeeded for at least 5000 ms: Error: refused');
  expect(reach.isLost()).toBe(true);
  await expect(reach.guard(never)).rejects.toThrow('no ping succeeded');
  isAway = false;
  await until('it to be back', async () => !reach.isLost());
  expect(await reach.guard(Promise.resolve('answer'))).toBe('answer');
  expect(log.filter((line) => line !== 'still lost')).toEqual(['lost: Error: refused', 'back']);
  expect(log).toContain('still lost');
}, 60_000);
