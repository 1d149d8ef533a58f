/** An outage has one line where it begins and one where it ends, whatever its connections do meanwhile. */
import pino from 'pino';
import { createOutages } from '../../../src/infra/outages';

function watched() {
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { base: null, timestamp: false },
    { write: (l) => lines.push(JSON.parse(l)) },
  );
  const clock = { now: 1_000 };
  const due: { at: number; work: () => void }[] = [];
  const outages = createOutages(logger, {
    clock: () => clock.now,
    later: (ms, work) => void due.push({ at: clock.now + ms, work }),
  });
  const pass = (ms: number) => {
    clock.now += ms;
    for (const one of due.splice(0)) {
      if (one.at <= clock.now) one.work();
      else due.push(one);
    }
  };
  return { outages, lines, pass };
}

test('many connections and many tries are one outage, with its length', () => {
  const { outages, lines, pass } = watched();
  for (let tries = 0; tries < 50; tries += 1) {
    for (const use of ['commands', 'subscriber']) outages.lost('redis', use, 'ECONNREFUSED');
    pass(100);
  }
  expect(outages.isUnavailable('redis')).toBe(true);
  outages.back('redis', 'commands');
  pass(10_000);
  expect(lines).toHaveLength(1);
  outages.back('redis', 'subscriber');
  pass(10_000);
  expect(lines).toEqual([
    {
      ...{ level: 40, msg: 'redis is unavailable', server: 'redis' },
      ...{ connection: 'commands', error: 'ECONNREFUSED' },
    },
    {
      ...{ level: 30, msg: 'redis is available again', server: 'redis', lastedMs: 15_000 },
      connections: ['commands', 'subscriber'],
    },
  ]);
  expect(outages.isUnavailable('redis')).toBe(false);
  expect(outages.last('redis')).toEqual({ since: 1_000, until: 16_000, error: 'ECONNREFUSED' });
});

test('one that is back for a moment only, again and again, is still away', () => {
  const { outages, lines, pass } = watched();
  for (let flap = 0; flap < 20; flap += 1) {
    outages.lost('redis', 'commands', 'READONLY');
    pass(10);
    outages.back('redis', 'commands');
    pass(1_500);
  }
  expect(lines).toHaveLength(1);
  pass(2_000);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatchObject({
    msg: 'redis is available again',
    lastedMs: 20 * 10 + 19 * 1_500,
  });
});

test('the next outage is another one, and each server has its own', () => {
  const { outages, lines, pass } = watched();
  for (const server of ['redis', 'mongodb', 'redis'] as const) {
    outages.lost(server, 'driver', 'gone');
    outages.back(server, 'driver');
    pass(5_000);
  }
  expect(lines.map(({ msg }) => msg)).toEqual(
    ['redis', 'mongodb', 'redis'].flatMap((server) => [
      `${server} is unavailable`,
      `${server} is available again`,
    ]),
  );
});

test('a connection that comes up for the first time is no outage', () => {
  const { outages, lines, pass } = watched();
  outages.back('redis', 'commands');
  pass(5_000);
  expect(lines).toEqual([]);
  expect(outages.last('redis')).toBeUndefined();
});

test('the cause of an outage is told once, as soon as a connection reports it', () => {
  const { outages, lines } = watched();
  outages.lost('redis', 'commands', 'the connection was closed');
  outages.lost('redis', 'subscriber', 'the connection was closed');
  outages.lost('redis', 'subscriber', 'NOAUTH Authentication required.');
  outages.lost('redis', 'commands', 'NOAUTH Authentication required.');
  outages.lost('redis', 'commands', 'connect ECONNREFUSED');
  expect(lines.map(({ msg, error }) => [msg, error])).toEqual([
    ['redis is unavailable', 'the connection was closed'],
    ['redis is unavailable: cause found', 'NOAUTH Authentication required.'],
  ]);
  expect(outages.last('redis')?.error).toBe('NOAUTH Authentication required.');
});
