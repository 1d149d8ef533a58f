/** One web process holds a bounded number of requests whose bodies are there; beyond it callers are told. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Context } from 'koa';
import { arrivalOf, koaInFlight, koaLongUploads } from '../../../src/http/middleware/koa-in-flight';

const FULL = { code: 503, reason: 'TOO_MANY_IN_FLIGHT', retryable: true, retryAfter: 1 };

function web(middleware = koaInFlight(2)) {
  const request = (req = new IncomingMessage(new Socket())) => {
    let end = (_why?: Error) => {};
    const work = () =>
      new Promise<void>((resolve, reject) => {
        end = (why) => (why ? reject(why) : resolve());
      });
    const over = middleware({ req } as Context, work) as Promise<void>;
    return { req, over, arrive: () => arrivalOf(req)?.complete(), end: (why?: Error) => end(why) };
  };
  return { request };
}

test('bodies up to the bound are let in, the next is rejected before any work', () => {
  const { request } = web();
  for (const { arrive } of [request(), request()]) arrive();
  expect(request().arrive).toThrow(expect.objectContaining(FULL));
});

test('a place is free again after success and after failure, and a rejection takes none', async () => {
  const { request } = web();
  const [passing, failing] = [request(), request()];
  for (const { arrive } of [passing, failing]) arrive();
  const rejected = request();
  expect(rejected.arrive).toThrow(expect.objectContaining(FULL));
  rejected.end();
  await rejected.over;
  expect(request().arrive).toThrow(expect.objectContaining(FULL));
  failing.end(new Error('broken'));
  await expect(failing.over).rejects.toThrow('broken');
  passing.end();
  await passing.over;
  for (const { arrive } of [request(), request()]) arrive();
  expect(request().arrive).toThrow(expect.objectContaining(FULL));
});

test('bodies that wait for their answers are bounded in bytes too', async () => {
  const { request } = web(koaInFlight(10, undefined, 1_000));
  const [large, other] = [request(), request()];
  arrivalOf(large.req)?.received(600);
  large.arrive();
  arrivalOf(other.req)?.received(500);
  expect(other.arrive).toThrow(
    expect.objectContaining({ ...FULL, reason: 'IN_FLIGHT_BYTES_FULL' }),
  );
  large.end();
  await large.over;
  const next = request();
  arrivalOf(next.req)?.received(500);
  next.arrive();
});

test('uploads hold no place, and whose body is there is not cut off for them', () => {
  const { request } = web();
  const arrived = [request(), request()];
  for (const { arrive } of arrived) arrive();
  const slow = Array.from({ length: 5 }, () => request());
  const cut = (all: typeof slow) => all.map(({ req }) => req.socket.destroyed);
  expect(cut(slow)).toEqual([true, true, true, false, false]);
  expect(cut(arrived)).toEqual([false, false]);
});

test('an upload that failed makes room', async () => {
  const { request } = web();
  const [first, second] = [request(), request()];
  first.end(new Error('broken'));
  await expect(first.over).rejects.toThrow('broken');
  request();
  expect(second.req.socket.destroyed).toBe(false);
});

test('long uploads: one that came takes no room, else the oldest makes some', () => {
  const { request } = web(koaLongUploads(2));
  const [came, slow] = [request(), request()];
  came.req.emit('end');
  request();
  expect(slow.req.socket.destroyed).toBe(false);
  request();
  expect(slow.req.socket.destroyed).toBe(true);
  expect(came.req.socket.destroyed).toBe(false);
});

test('how many have a place is told whenever that changes', async () => {
  const told: number[] = [];
  const { request } = web(koaInFlight(2, (inFlight) => told.push(inFlight)));
  const [one, two, idle] = [request(), request(), request()];
  for (const { arrive } of [one, two]) arrive();
  expect(idle.arrive).toThrow(expect.objectContaining(FULL));
  for (const { end } of [one, two, idle]) end();
  await Promise.all([one.over, two.over, idle.over]);
  expect(told).toEqual([1, 2, 1, 0]);
});
