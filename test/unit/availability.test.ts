/** What an ingress makes of a server that fails, or does not answer. */
import { databaseCall, queueCall } from '../../src/ingress/availability';

const failing = (error: unknown) => Promise.reject(error);

test('a server that fails or is silent is named, with the cause', async () => {
  const cause = new Error('no primary');
  await expect(databaseCall(failing(cause), 1_000)).rejects.toMatchObject({
    reason: 'DATABASE_UNAVAILABLE',
    cause,
  });
  await expect(queueCall(new Promise(() => undefined), 10)).rejects.toMatchObject({
    reason: 'QUEUE_UNAVAILABLE',
  });
});

test.each([
  new TypeError("Cannot read properties of undefined (reading 'x')"),
  new RangeError('Maximum call stack size exceeded'),
])(
  'a defect of our own is not told as an outage, which callers would retry for ever: %s',
  async (defect) => {
    await expect(databaseCall(failing(defect), 1_000)).rejects.toBe(defect);
  },
);
