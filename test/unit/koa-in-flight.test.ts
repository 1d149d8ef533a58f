/** One ingress holds a bounded number of requests; beyond it callers are told at once. */
import type { Context } from 'koa';
import { koaInFlight } from '../../src/ingress/koa-in-flight';

const FULL = { code: 503, reason: 'BACKLOG_FULL', retryable: true, retryAfter: 1 };

function ingress(max: number) {
  const middleware = koaInFlight(max);
  const pending: { end: () => void; fail: (why: Error) => void }[] = [];
  const request = () =>
    middleware(
      {} as Context,
      () => new Promise<void>((end, fail) => pending.push({ end, fail })),
    ) as Promise<void>;
  return { request, pending };
}

test('requests up to the bound are let in, the next is refused before any work', async () => {
  const { request, pending } = ingress(2);
  const held = [request(), request()];
  await expect(request()).rejects.toMatchObject(FULL);
  expect(pending).toHaveLength(2);
  for (const { end } of pending) end();
  await Promise.all(held);
});

test('a place is free again after success and after failure, and a refusal takes none', async () => {
  const { request, pending } = ingress(1);
  const failing = request();
  await expect(request()).rejects.toMatchObject(FULL);
  pending[0]?.fail(new Error('broken'));
  await expect(failing).rejects.toThrow('broken');
  const passing = request();
  pending[1]?.end();
  await expect(passing).resolves.toBeUndefined();
  const last = request();
  expect(pending).toHaveLength(3);
  pending[2]?.end();
  await last;
});
