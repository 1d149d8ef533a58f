/** Servers of a chaos run that are several: what its faults do to a real set, and to a real pair. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { mongo } from 'mongoose';
import { fill, lag, orphan, rejectSessions, stepDown } from '../../../tools/chaos/server-faults';
import { type RedisPair, startRedisPair } from '../../../tools/harness/redis-pair';
import { type ClusterSet, startSet } from '../../../tools/harness/replica-set';
import { withAdmin } from '../../../tools/local/mongod';
import { until } from '../../support/wait';

const LIMIT = 120_000;
const folder = mkdtempSync(join(tmpdir(), 'matter-push-chaos-servers-'));
const crashes: string[] = [];
const ground = {
  root: process.cwd(),
  folder,
  signal: new AbortController().signal,
  crashed: (what: string) => void crashes.push(what),
};
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  expect(crashes).toEqual([]);
});

describe('a replica set', () => {
  let set: ClusterSet;
  beforeAll(async () => {
    set = await startSet(ground, { members: 3, rejectsKillSessions: false });
  });
  afterAll(() => set.stop(), LIMIT);
  const killSessions = async (url: string) =>
    withAdmin(url, (db) => db.command({ killSessions: [] })).then(
      () => 'taken',
      (error) => error.code,
    );
  const write = (url: string, n: number, w: number) =>
    withAdmin(url, (db) =>
      db.command({
        insert: 'things',
        documents: [{ n }],
        writeConcern: { w, wtimeout: 1_000 },
      }),
    );
  /** Whether so many members have a write within a second. */
  const confirmedBy = async (n: number, w: number) => {
    try {
      await write((await set.primary()).url, n, w);
      return true;
    } catch (error) {
      if (error instanceof mongo.MongoWriteConcernError) return false;
      throw error;
    }
  };

  test('every member has its own proxy, and the processes are told the ways', () => {
    expect(set.members).toHaveLength(3);
    const ports = set.members.map(({ url }) => new URL(url).port);
    expect(Object.keys(set.waysOf('all')).sort()).toEqual(ports.sort());
    expect(new Set(Object.values(set.waysOf('all'))).size).toBe(3);
  });

  test(
    'a step-down makes another member the primary',
    async () => {
      const before = await set.primary();
      await stepDown(set);
      await until('another primary', async () => (await set.primary()).url !== before.url);
    },
    LIMIT,
  );

  test(
    'a secondary that lags answers, and has nothing new until it is over',
    async () => {
      await until('all to follow', () => confirmedBy(1, 3));
      await lag(set, async () => {
        await until('one to lag', async () => !(await confirmedBy(2, 3)));
        await until('the others to follow', () => confirmedBy(3, 2));
      });
      await until('all to follow', () => confirmedBy(4, 3));
    },
    LIMIT,
  );

  test(
    'killSessions is rejected by whoever is asked, for a while',
    async () => {
      const answers = () => Promise.all(set.members.map(({ url }) => killSessions(url)));
      await rejectSessions(set, async () => expect(await answers()).toEqual([8_000, 8_000, 8_000]));
      expect(await answers()).toEqual(['taken', 'taken', 'taken']);
    },
    LIMIT,
  );

  test(
    'a primary that is killed comes back on its data, in a set with another one',
    async () => {
      const victim = await set.primary();
      await until('another one to have it', () => confirmedBy(7, 2));
      victim.kill('SIGKILL');
      await until('it to be gone', async () => victim.pid() === undefined);
      await until('another primary', async () => (await set.primary()).url !== victim.url);
      await victim.restart();
      await until('it to have that', () =>
        withAdmin(
          victim.url,
          async (db) => (await db.collection('things').findOne({ n: 7 })) !== null,
        ),
      );
    },
    LIMIT,
  );

  test(
    'what no other member has is gone once its primary has died',
    async () => {
      const has = async (n: number) =>
        withAdmin((await set.primary()).url, (db) => db.collection('things').findOne({ n }));
      await until('all to follow', () => confirmedBy(8, 3));
      await orphan(set, async () => {
        expect(await confirmedBy(9, 1)).toBe(true);
        expect(await confirmedBy(10, 2)).toBe(false);
      });
      expect(await has(8)).not.toBeNull();
      expect(await has(9)).toBeNull();
    },
    LIMIT,
  );
});

test(
  'killSessions can be rejected from the start on, also after a restart',
  async () => {
    const alone = { ...ground, folder: join(folder, 'rejecting') };
    const set = await startSet(alone, { members: 1, rejectsKillSessions: true });
    const ask = async () =>
      withAdmin((await set.primary()).url, (db) => db.command({ killSessions: [] }));
    try {
      await expect(ask()).rejects.toMatchObject({ code: 8_000 });
      set.kill('SIGKILL');
      await set.restart();
      await expect(ask()).rejects.toMatchObject({ code: 8_000 });
    } finally {
      await set.stop();
    }
  },
  LIMIT,
);

describe('a Redis that fails over', () => {
  let pair: RedisPair;
  beforeAll(async () => {
    pair = await startRedisPair(ground, 2);
  });
  afterAll(() => pair.stop(), LIMIT);
  const connect = async (url: string): Promise<Redis> => {
    const redis = new Redis(url, { lazyConnect: true });
    await redis.connect();
    return redis;
  };
  /** As a process goes that is told its way. */
  const wayTo = (to: RedisPair) => {
    const url = new URL(to.processUrl);
    url.port = String(to.waysOf('all')[url.port]);
    return url.href;
  };
  const isFollowed = async (redis: Redis) =>
    (await redis.info('replication')).includes('state=online');

  test(
    'the new primary lacks what came meanwhile; old connections stay with the old one',
    async () => {
      const old = await connect(wayTo(pair));
      await old.set('before', '1');
      await until('the other to follow', () => isFollowed(old));
      await until('it to have that', async () => (await old.wait(1, 500)) === 1);
      const pid = pair.pid();
      await pair.failOver(async () => void (await old.set('meanwhile', '1')));
      const next = await connect(wayTo(pair));
      expect(pair.pid()).not.toBe(pid);
      expect(await next.mget('before', 'meanwhile')).toEqual(['1', null]);
      await expect(old.set('after', '1')).rejects.toThrow('READONLY');
      await until('the old one to follow and forget', async () => {
        // While it loads what the new primary has, it rejects reads.
        return (await old.get('meanwhile').catch(() => 'loading')) === null;
      });
      const looking = await connect(pair.url);
      await expect(looking.set('looked', '1')).resolves.toBe('OK');
      for (const redis of [old, next, looking]) redis.disconnect();
    },
    LIMIT,
  );

  test(
    'its memory is full for a while',
    async () => {
      const redis = await connect(pair.url);
      // Redis may free some of its memory at any time, such as the buffer of a connection.
      await fill(redis, -256, async () => {
        await expect(redis.set('too much', 'x')).rejects.toThrow('OOM');
      });
      await expect(redis.set('enough', 'x')).resolves.toBe('OK');
      redis.disconnect();
    },
    LIMIT,
  );
});
