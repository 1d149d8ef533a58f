/** Load shedding: a push that would wait too long is rejected at once, and no other push is. */
import { PushError } from '../../../src/protocol/errors';
import { LoadShedder, type Permit } from '../../../src/pushes/load-shedder';

const TIMEOUT = 10_000;
const MAX_YOUNG = 5_000;
/** Of batches. */
let waiting = 0;
const linesWaiting = () => waiting;
afterEach(() => {
  waiting = 0;
});

/** A service that answers `capacity` pushes per second, first come, first served. */
function simulate(capacity: number) {
  let now = 50_000;
  const shedder = new LoadShedder({
    timeout: TIMEOUT,
    maxInFlight: MAX_YOUNG,
    linesWaiting,
    clock: () => now,
  });
  const queue: { since: number; permit: Permit; clientId: string }[] = [];
  const seen = { admitted: 0, rejected: [] as PushError[], waits: [] as number[] };
  const rejectedOf = new Map<string, number>();
  let owed = 0;
  const push = (clientId: string) => {
    try {
      queue.push({ since: now, permit: shedder.acquire(clientId), clientId });
      seen.admitted += 1;
    } catch (error) {
      if (!(error instanceof PushError)) throw error;
      seen.rejected.push(error);
      rejectedOf.set(clientId, (rejectedOf.get(clientId) ?? 0) + 1);
    }
  };
  /** A request that is let in and rejected at once, for its rate or its body. */
  const noise = (clientId: string) => {
    try {
      shedder.acquire(clientId).release();
    } catch (error) {
      if (!(error instanceof PushError)) throw error;
    }
  };
  /** Lets time pass in steps of 10 ms, with arrivals per second by client. */
  const run = (ms: number, arrivals: Record<string, number>, speed = capacity) => {
    const due = new Map<string, number>();
    for (const end = now + ms; now < end; now += 10) {
      for (const [clientId, rate] of Object.entries(arrivals)) {
        const count = (due.get(clientId) ?? 0) + rate / 100;
        for (let n = 0; n < Math.floor(count); n += 1) push(clientId);
        due.set(clientId, count % 1);
      }
      owed = Math.min(owed + speed / 100, queue.length);
      for (; owed >= 1; owed -= 1) {
        const done = queue.shift();
        if (!done) break;
        seen.waits.push(now - done.since);
        done.permit.end(true);
        done.permit.release();
      }
    }
  };
  return { run, push, noise, seen, rejectedOf, waiting: () => queue.length };
}

test('at its capacity, and in short crowds above it, nobody is rejected', () => {
  const service = simulate(250);
  service.run(20_000, { a: 240 });
  service.run(1_000, { a: 1_000 });
  service.run(10_000, { a: 200 });
  expect(service.seen.rejected).toHaveLength(0);
});

test.each([2, 3, 10])(
  'at %i times its capacity all that is accepted meets its deadline',
  (over) => {
    const service = simulate(200);
    service.run(60_000, { a: 200 * over });
    service.run(10_000, {});
    expect(Math.max(...service.seen.waits)).toBeLessThan(TIMEOUT);
    expect(service.waiting()).toBe(0);
    // The service had something to do all the time.
    expect(service.seen.admitted).toBeGreaterThan(200 * 30);
  },
);

test('a rejection says when to come again, and is retryable', () => {
  const service = simulate(200);
  service.run(10_000, { a: 600 });
  const [rejection] = service.seen.rejected;
  expect(rejection).toMatchObject({ reason: 'BACKLOG_FULL', code: 503, retryable: true });
  const waits = service.seen.rejected.map(({ retryAfter }) => Number(retryAfter));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...waits)).toBeLessThanOrEqual(TIMEOUT / 2_000);
});

test('where the service slows down to a tenth, only what came at first is late', () => {
  const service = simulate(300);
  service.run(20_000, { a: 280 });
  service.run(50_000, { a: 280 }, 30);
  const before = service.seen.waits.length;
  service.run(30_000, { a: 280 }, 30);
  expect(service.seen.waits.slice(before).filter((wait) => wait >= TIMEOUT)).toEqual([]);
  service.run(30_000, { a: 20 }, 300);
  const rejected = service.seen.rejected.length;
  service.run(10_000, { a: 280 }, 300);
  expect(service.seen.rejected.length).toBe(rejected);
});

test('a pause of two seconds, as after the death of a worker, rejects nobody', () => {
  const service = simulate(300);
  service.run(10_000, { a: 150 });
  service.run(2_000, { a: 150 }, 0);
  service.run(10_000, { a: 150 });
  expect(service.seen.rejected).toHaveLength(0);
});

test('while nothing is answered at all, a handful may wait and the rest is rejected', () => {
  const service = simulate(300);
  service.run(5_000, { a: 100 });
  service.run(8_000, { a: 100 }, 0);
  expect(service.waiting()).toBeLessThan(600);
  service.run(4_000, { a: 100 }, 0);
  expect(service.seen.rejected.length).toBeGreaterThan(500);
});

test('the crowd of one client leaves room for the others', () => {
  const service = simulate(200);
  service.run(20_000, { crowd: 1_000, quiet: 20 });
  expect(service.rejectedOf.get('crowd')).toBeGreaterThan(1_000);
  expect(service.rejectedOf.get('quiet') ?? 0).toBe(0);
});

test('requests that are rejected at once do not pass for speed', () => {
  const service = simulate(600);
  service.run(10_000, { a: 500 });
  const before = service.seen.waits.length;
  for (let step = 0; step < 3_000; step += 1) {
    service.run(10, { a: 500 }, 200);
    for (let n = 0; n < 5; n += 1) service.noise('b');
  }
  service.run(15_000, {}, 200);
  const late = service.seen.waits.slice(before).filter((wait) => wait >= TIMEOUT);
  expect(late).toEqual([]);
});

test('a few pushes are never rejected, however long they wait', () => {
  const service = simulate(0);
  for (let n = 0; n < 125; n += 1) service.push('a');
  service.run(8_000, {});
  service.push('a');
  expect(service.seen.rejected).toHaveLength(0);
});

describe('batches', () => {
  let now = 0;
  const shedder = () =>
    new LoadShedder({ timeout: TIMEOUT, maxInFlight: MAX_YOUNG, linesWaiting, clock: () => now });
  const isLetIn = (load: LoadShedder, clientId: string, lines?: number) => {
    try {
      load.acquire(clientId, lines);
      return true;
    } catch (error) {
      if (!(error instanceof PushError)) throw error;
      return false;
    }
  };

  test('before anything was answered no more of them are let in than single pushes would be', () => {
    const load = shedder();
    const letIn = Array.from({ length: 20 }, () => isLetIn(load, 'crowd', 1_000));
    expect(letIn.filter(Boolean)).toHaveLength(5);
    // The crowd is another client's.
    expect(isLetIn(load, 'other')).toBe(true);
  });

  test('their lines leave the load as they end, and tell how fast the workers are', () => {
    const load = shedder();
    const permit = load.acquire('crowd', 1_000);
    for (let n = 0; n < 900; n += 1) {
      now += 10;
      permit.end(true);
    }
    // A hundred a second: 500 may wait, and a hundred do.
    expect(isLetIn(load, 'other', 300)).toBe(true);
    expect(isLetIn(load, 'third', 600)).toBe(false);
  });

  test('single pushes are in front of lines that wait beside them; more lines are not', () => {
    const load = shedder();
    const permit = load.acquire('crowd', 5_000);
    for (let n = 0; n < 900; n += 1) {
      now += 10;
      permit.end(true);
    }
    expect(isLetIn(load, 'other')).toBe(false);
    waiting = 4_000;
    expect(isLetIn(load, 'other')).toBe(true);
    expect(isLetIn(load, 'crowd')).toBe(true);
    expect(isLetIn(load, 'third', 2)).toBe(false);
    expect(isLetIn(load, 'third', 1)).toBe(false);
  });
});
