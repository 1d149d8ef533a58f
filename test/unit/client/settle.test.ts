/** A call that is told to slow down again and again is given up in the end. */
import { createCall } from '../../../tools/client/call';
import { settle } from '../../../tools/client/settle';

test('429 for ever ends a call after a hundred waits, whatever its retries', async () => {
  const answer = { status: 429, text: '', retryAfter: '0', replayed: false, url: 'http://portal' };
  const sender = { send: async () => answer, close: () => {} };
  const pauses: number[] = [];
  const gate = { pause: (wait: number) => void pauses.push(wait), pass: async () => {} };
  const call = createCall(Number.POSITIVE_INFINITY, undefined);
  const request = { path: '/', body: Buffer.from('{}'), idempotencyKey: 'k' };
  const settled = settle(request, call, { sender, gate, retries: 0 });
  await expect(settled).rejects.toMatchObject({ code: 429, reason: 'HTTP_429', tries: 101 });
  expect(pauses).toEqual(Array(100).fill(0));
});
