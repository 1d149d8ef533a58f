/** The deadline of a call: it ends what waits for it, and drops what comes later. */
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../../../src/concurrency/timing';

const never = new Promise<never>(() => undefined);

test('a call that ends in time keeps its result, or its error', async () => {
  expect(await withTimeout(Promise.resolve('done'), 1_000)).toBe('done');
  await expect(withTimeout(Promise.reject(new Error('its own')), 1_000)).rejects.toThrow('its own');
});

test('a call without an end is over at its deadline, with the error that its caller names', async () => {
  await expect(withTimeout(never, 5)).rejects.toThrow('no answer within 5 ms');
  let ends = 0;
  const named = withTimeout(never, 5, () => {
    ends += 1;
    return new RangeError('too late');
  });
  await expect(named).rejects.toThrow(RangeError);
  expect(ends).toBe(1);
});

test.each([0, -5])('a deadline of %i ms is now', async (ms) => {
  const warn = jest.spyOn(process, 'emitWarning');
  await expect(withTimeout(never, ms, () => new Error('now'))).rejects.toThrow('now');
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});

test('what a call comes to after its deadline is dropped, a failure too', async () => {
  const unhandled = jest.fn();
  process.on('unhandledRejection', unhandled);
  const late = sleep(20).then(() => {
    throw new Error('late');
  });
  await expect(withTimeout(late, 5)).rejects.toThrow('no answer');
  await sleep(40);
  expect(unhandled).not.toHaveBeenCalled();
  process.off('unhandledRejection', unhandled);
});

test('a call that ended in time has no deadline any more', async () => {
  const onTimeout = jest.fn(() => new Error('too late'));
  await withTimeout(Promise.resolve(), 5, onTimeout);
  await sleep(20);
  expect(onTimeout).not.toHaveBeenCalled();
});
