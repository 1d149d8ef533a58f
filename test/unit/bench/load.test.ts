/** The generator of the benchmark: what it reads, what it sends, and what it makes of the figures. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { groupOf } from '../../../src/domain/matter';
import { partitionOf } from '../../../src/queue/keys';
import { compareReport } from '../../../tools/bench/compare-report';
import { openConnection, parseAnswer } from '../../../tools/bench/load/connection';
import {
  createFilePushes,
  createLoadPushes,
  hotKeyOf,
  type KeyChoice,
  keysBeside,
  usernamesIn,
} from '../../../tools/bench/load/pushes';
import { openWindow, type Until } from '../../../tools/bench/load/window';
import type { Series } from '../../../tools/bench/measure';

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
    const next = createLoadPushes(choice, round);
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

  test('beside a hot one are in other partitions', () => {
    const partition = (key: string) => {
      return partitionOf(groupOf('CRM', key), { shards: 1, partitions: 64 });
    };
    const keyOf = keysBeside('r', 'CRM', hotKeyOf('r'));
    const partitions = Array.from({ length: 1_000 }, () => partition(keyOf()));
    expect(new Set(partitions).size).toBe(63);
    expect(partitions).not.toContain(partition(hotKeyOf('r')));
  });

  test('are other ones in another round', () => {
    const other = keysOf('distinct', 'other');
    expect([...keysOf('distinct').keys()].filter((key) => other.has(key))).toEqual([]);
  });
});

describe('the pushes of a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'matter-push-bench-file-'));
  const file = join(folder, 'pushes.ndjson');
  const line = (externalId: string, title: string) =>
    JSON.stringify({ op: 'upsert', body: { externalId, title, parties: [{ username: title }] } });
  writeFileSync(file, [line('A', 'a1'), line('B', 'b1'), line('A', 'a2'), ''].join('\n'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const sentBy = (connections: number, connection: number, count: number) => {
    const next = createFilePushes(file, connections);
    return Array.from({ length: count }, () => {
      const { externalId, title } = JSON.parse(next(connection).body);
      return `${externalId} ${title}`;
    });
  };

  test('come in their order, and then again for other matters', () => {
    expect(sentBy(1, 0, 4)).toEqual(['A-0-0 a1', 'B-0-0 b1', 'A-0-0 a2', 'A-0-1 a1']);
  });

  test('those of one matter stay with one connection', () => {
    const both = [sentBy(2, 0, 2), sentBy(2, 1, 1)];
    const matters = both.map((pushes) => new Set(pushes.map((push) => push[0])));
    expect(matters.map(({ size }) => size)).toEqual([1, 1]);
  });

  test('name everybody who has to be known', () => {
    expect(usernamesIn(file).sort()).toEqual(['a1', 'a2', 'b1']);
  });
});

describe('a window', () => {
  const boundaries: string[] = [];
  const open = (until: Until, connections: number) => {
    boundaries.length = 0;
    const onBoundary = (boundary: string) => void boundaries.push(boundary);
    return openWindow(until, { connections, now: 1_000, onBoundary });
  };

  test('by the clock begins once it is warm and every connection had an answer', () => {
    const window = open({ warmUp: 100, duration: 50 }, 2);
    window.answered(1_090, true);
    window.answered(1_110, false);
    expect([window.counts(1_115), boundaries]).toEqual([false, []]);
    window.answered(1_120, true);
    expect([1_119, 1_120].map(window.counts)).toEqual([false, true]);
    expect(boundaries).toEqual(['begin']);
  });

  test('and ends with the first answer after its time, which belongs to the next burst', () => {
    const window = open({ warmUp: 100, duration: 50 }, 1);
    window.answered(1_120, true);
    window.answered(1_160, false);
    expect(window.isOpen(1_171)).toBe(true);
    window.answered(1_180, false);
    window.answered(1_181, false);
    expect([1_160, 1_179, 1_180].map(window.counts)).toEqual([true, true, false]);
    expect([window.isOpen(1_181), window.elapsed(), boundaries]).toEqual([
      false,
      60,
      ['begin', 'end'],
    ]);
  });

  test('of a number of pushes lets so many out, and lasts to the last answer', () => {
    const window = open({ pushes: 2 }, 5);
    expect([1_000, 1_001, 1_002].map(window.isOpen)).toEqual([true, true, false]);
    window.answered(1_300, true);
    window.answered(1_400, true);
    expect([window.elapsed(), boundaries]).toEqual([400, ['begin', 'end']]);
  });
});

describe('the report', () => {
  const series = (contender: string, rates: readonly number[], p50 = 10): Series => ({
    ...{ scenario: 'distinct-64', contender, size: { webs: 1, workers: 1 } },
    rounds: rates.map((rate) => ({
      ...{ accepted: rate * 2, others: {}, elapsed: 2_000 },
      ...{ p50, p99: 20, max: 30, cpuPerPush: { web: 100, mongo: 50, generator: 7 } },
      commands: { database: 0.5, redis: 2 },
    })),
  });

  test.each([
    [300, true],
    [299, false],
  ])('holds %d pushes/s against 100 of the direct way: %s', (rate, passed) => {
    const report = compareReport([series('matter-push', [rate]), series('direct', [100])]);
    expect(report.passed).toBe(passed);
    expect(report.text).toContain(passed ? 'passed' : 'FAILED');
  });

  test('no goal is reached against a contender that accepted nothing, or where pushes failed', () => {
    const none = compareReport([series('matter-push', [600]), series('direct', [0])]);
    expect(none.passed).toBe(false);
    const broken = series('direct', [100]);
    const failing = broken.rounds.map((round) => ({ ...round, others: { '503 503': 1 } }));
    const against = { ...broken, rounds: failing };
    expect(compareReport([series('matter-push', [900]), against]).passed).toBe(false);
    const ours = series('matter-push', [600]);
    const rounds = ours.rounds.map((round) => ({ ...round, others: { '503 503': 1 } }));
    expect(compareReport([{ ...ours, rounds }]).passed).toBe(false);
  });

  describe('of two builds', () => {
    const scenario = 'distinct-256';
    const ours = { ...series('matter-push', [128, 256, 384], 8), scenario };
    const other: Series = {
      ...{ ...ours, isOtherBuild: true },
      rounds: series('matter-push', [512, 64, 256]).rounds.map((round) => ({
        ...{ ...round, cpuPerPush: { web: 150, mongo: 50, generator: 900 } },
      })),
    };

    test('shows the median of the ratios of each round; the generator costs neither of them', () => {
      const { text, summary } = compareReport([other, ours]);
      const ratios = summary.ratios.map(({ figure, ratio, lowest, highest }) => [
        ...[figure, ratio, lowest, highest],
      ]);
      expect(ratios).toEqual([
        ['CPU per push', 0.75, 0.75, 0.75],
        ['p50', 0.8, 0.8, 0.8],
        ['p99', 1, 1, 1],
        ['pushes/s', 1.5, 0.25, 4],
      ]);
      expect(text).toContain('matter-push, other build');
      // The goals of this scenario are about other contenders and about this build alone.
      expect(summary.goals.map(({ goal }) => goal)).toEqual([
        'pushes that were rejected or failed: at most 0',
      ]);
      expect(compareReport([ours]).summary.ratios).toEqual([]);
    });

    test('does not pass if pushes of either build failed', () => {
      const failing = (one: Series): Series => ({
        ...one,
        rounds: one.rounds.map((round) => ({ ...round, others: { '503 503': 1 } })),
      });
      expect(compareReport([other, failing(ours)]).passed).toBe(false);
      expect(compareReport([failing(other), ours]).passed).toBe(false);
    });
  });
});
