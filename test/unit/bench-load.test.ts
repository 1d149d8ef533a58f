/** The generator of the benchmark: what it reads, what it sends, and what it makes of the figures. */
import { type AddressInfo, createServer } from 'node:net';
import { compareReport } from '../../bench/compare-report';
import { openConnection, parseAnswer } from '../../bench/load/connection';
import { createPushes, type KeyChoice } from '../../bench/load/pushes';
import type { Series } from '../../bench/measure';

describe('an answer', () => {
  const whole = 'HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 11\r\n\r\n{"code":0} ';

  test('is read when it is whole, not before', () => {
    for (let length = 0; length < whole.length; length += 1) {
      expect(parseAnswer(Buffer.from(whole.slice(0, length)))).toBeUndefined();
    }
    const answer = parseAnswer(Buffer.from(whole));
    expect(answer?.status).toBe(200);
    expect(String(answer?.body)).toBe('{"code":0} ');
  });

  test('without a length is an error, not a wait', () => {
    const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(() => parseAnswer(Buffer.from(chunked))).toThrow('without Content-Length');
  });
});

test('a connection that is closed fails what is under way, and what comes after', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const connection = await openConnection((server.address() as AddressInfo).port);
  await expect(connection.send(Buffer.from('x'))).rejects.toThrow('closed');
  await expect(connection.send(Buffer.from('x'))).rejects.toThrow('closed');
  server.close();
});

describe('keys', () => {
  const keysOf = (choice: KeyChoice, round = 'r') => {
    const next = createPushes(choice, round);
    const keys = Array.from({ length: 5_000 }, () => JSON.parse(next().body).externalId as string);
    const counts = new Map<string, number>();
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  };

  test('distinct ones come once, a hot one is the only one', () => {
    expect(keysOf('distinct').size).toBe(5_000);
    expect([...keysOf('hot')]).toEqual([['r-hot', 5_000]]);
  });

  test('of a Zipf distribution the second is half as frequent as the first', () => {
    const counts = [...keysOf('zipf').values()].sort((a, b) => b - a);
    const [first = 0, second = 0] = counts;
    expect(first / 5_000).toBeGreaterThan(0.08);
    expect(first / 5_000).toBeLessThan(0.13);
    expect(second / first).toBeGreaterThan(0.35);
    expect(second / first).toBeLessThan(0.65);
    expect(counts.length).toBeGreaterThan(1_000);
  });

  test('are other ones in another round', () => {
    const other = keysOf('distinct', 'other');
    expect([...keysOf('distinct').keys()].filter((key) => other.has(key))).toEqual([]);
  });
});

describe('the report', () => {
  const series = (contender: string, rates: readonly number[], p50 = 10): Series => ({
    ...{ scenario: 'distinct-64', contender, size: { webs: 1, workers: 1 } },
    rounds: rates.map((rate) => ({
      ...{ accepted: rate * 2, others: {}, acceptedInAll: rate * 3, elapsed: 2_000 },
      ...{ p50, p99: 20, max: 30, cpuPerPush: { web: 100, mongo: 50, generator: 7 } },
    })),
  });

  test('gives the median and the spread of the rounds, and leaves the generator out', () => {
    const { summary } = compareReport([series('matter-push', [600, 500, 900])]);
    expect(summary.rows).toMatchObject([
      { rate: 600, slowestRound: 500, fastestRound: 900, cpu: 150, failed: 0 },
    ]);
    expect(summary.goals).toMatchObject([{ passed: true, seen: '0.00' }]);
  });

  test.each([
    [600, true],
    [599, false],
  ])('holds %d pushes/s against 100 of the direct way: %s', (rate, passed) => {
    const report = compareReport([series('matter-push', [rate]), series('direct', [100])]);
    expect(report.passed).toBe(passed);
    expect(report.text).toContain(passed ? 'passed' : 'FAILED');
  });

  test('no goal is reached against a contender that accepted nothing, or where pushes failed', () => {
    const none = compareReport([series('matter-push', [600]), series('direct', [0])]);
    expect(none.passed).toBe(false);
    const ours = series('matter-push', [600]);
    const rounds = ours.rounds.map((round) => ({ ...round, others: { '503 503': 1 } }));
    expect(compareReport([{ ...ours, rounds }]).passed).toBe(false);
  });
});
