/** One web process holds a bounded number of requests whose bodies are there; beyond it callers are told. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Context } from 'koa';
import { createInFlight } from '../../../src/http/body';
import { koaLongUploads } from '../../../src/http/streamed-body';

const FULL = { code: 503, reason: 'TOO_MANY_IN_FLIGHT', retryable: true, retryAfter: 1 };

function web(inFlight = createInFlight(2)) {
  const request = () => {
    const req = new IncomingMessage(new Socket());
    const { received, complete: arrive, end } = inFlight.begin(req);
    return { req, received, arrive, end };
  };
  return { request };
}

test('bodies up to the bound are let in, the next is rejected before any work', () => {
  const { request } = web();
  for (const { arrive } of [request(), request()]) arrive();
  expect(request().arrive).toThrow(expect.objectContaining(FULL));
});

test('a place is free again at the end of its request, and a rejection takes none', () => {
  const { request } = web();
  const [one, two] = [request(), request()];
  for (const { arrive } of [one, two]) arrive();
  const rejected = request();
  expect(rejected.arrive).toThrow(expect.objectContaining(FULL));
  rejected.end();
  expect(request().arrive).toThrow(expect.objectContaining(FULL));
  for (const { end } of [one, two]) end();
  for (const { arrive } of [request(), request()]) arrive();
  expect(request().arrive).toThrow(expect.objectContaining(FULL));
});

test('bodies that wait for their answers are bounded in bytes too', () => {
  const { request } = web(createInFlight(10, undefined, 1_000));
  const [large, other] = [request(), request()];
  large.received(600);
  large.arrive();
  other.received(500);
  expect(other.arrive).toThrow(
    expect.objectContaining({ ...FULL, reason: 'IN_FLIGHT_BYTES_FULL' }),
  );
  large.end();
  const next = request();
  next.received(500);
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

test('an upload that ended makes room', () => {
  const { request } = web();
  const [first, second] = [request(), request()];
  first.end();
  request();
  expect(second.req.socket.destroyed).toBe(false);
});

test('long uploads: one that came takes no room, else the oldest makes some', () => {
  const uploads = koaLongUploads(2);
  const request = () => {
    const req = new IncomingMessage(new Socket());
    void uploads({ req } as Context, () => new Promise(() => undefined));
    return { req };
  };
  const [came, slow] = [request(), request()];
  came.req.emit('end');
  request();
  expect(slow.req.socket.destroyed).toBe(false);
  request();
  expect(slow.req.socket.destroyed).toBe(true);
  expect(came.req.socket.destroyed).toBe(false);
});

test('how many have a place is told whenever that changes', () => {
  const told: number[] = [];
  const { request } = web(createInFlight(2, (inFlight) => told.push(inFlight)));
  const [one, two, idle] = [request(), request(), request()];
  for (const { arrive } of [one, two]) arrive();
  expect(idle.arrive).toThrow(expect.objectContaining(FULL));
  for (const { end } of [one, two, idle]) end();
  expect(told).toEqual([1, 2, 1, 0]);
});
