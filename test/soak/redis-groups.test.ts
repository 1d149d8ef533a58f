/**
 * Promises 1, 2 and 5 on a Sentinel group and on a Cluster of real processes, with TLS and ACL users: a failover
 * under load loses nothing that was answered, breaks no order, and is over within ten seconds by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startPollLoop } from '../../src/concurrency/timing';
import { createRedisKeys } from '../../src/queue/keys';
import { entryModel } from '../../src/storage/push-log/entry';
import { writeCertificate } from '../../tools/harness/certificate';
import { type RedisCluster, startRedisCluster } from '../../tools/harness/redis-cluster';
import type { RedisNode } from '../../tools/harness/redis-node';
import { type SentinelGroup, startSentinelGroup } from '../../tools/harness/redis-sentinel';
import { makeGround, type TestGround } from '../support/ground';
import { storedMatter } from '../support/ledger-check';
import type { Answer } from '../support/pusher';
import { type Service, startService } from '../support/service';
import { until } from '../support/wait';

/**
 * Milliseconds until each caller is accepted, from the instant since which the group accepts each write.
 * `npm run chaos` measures the promise, which begins with the death of a server.
 */
const PROMISED = 10_000;
const CALLERS = 8;
/** Milliseconds before a caller repeats what failed. Without a pause, callers would take all processor time. */
const RETRY_DELAY = 50;
/** Milliseconds between two writes to the group without the service. */
const PROBE_INTERVAL = 250;
/** As docs/installation.md has them; the name of the service is drawn. */
const RULES = '~{t-*}:* &{t-*}:* +@all -@admin -@dangerous +info +cluster|slots +cluster|info';

interface Group {
  readonly url: string;
  readonly all: readonly RedisNode[];
  primaryOf(key: string): Promise<RedisNode>;
  /** Resolves once it would survive another death. */
  whole(): Promise<void>;
  stop(): Promise<void>;
}

const ofSentinels = (group: SentinelGroup): Group => ({
  url: group.url,
  all: group.servers,
  primaryOf: () => group.primary(),
  whole: () => group.complete(),
  stop: () => group.stop(),
});

const ofCluster = (cluster: RedisCluster): Group => ({
  url: cluster.url,
  all: cluster.nodes,
  primaryOf: (key) => cluster.primaryOf(key),
  whole: () => cluster.whole(),
  stop: () => cluster.stop(),
});

const keyOf = (run: string, caller: number) => `${run}-${caller}`;

describe.each([['sentinel'], ['cluster']])('%s', (form) => {
  let ground: TestGround;
  let group: Group;
  let service: Service;
  beforeAll(async () => {
    ground = makeGround(form);
    const access = { rules: RULES, tls: writeCertificate(ground.folder) };
    group =
      form === 'sentinel'
        ? ofSentinels(await startSentinelGroup(ground, { ...access, replicas: 2 }))
        : ofCluster(await startRedisCluster(ground, access));
    // Of a Cluster each node has some of the shards.
    const env = { PUSH_TIMEOUT: '4s', REDIS_SHARDS: form === 'cluster' ? '8' : '1' };
    service = await startService({
      processes: true,
      ...{ redisUrl: group.url, webs: 2, workers: 2, env },
    });
  });
  afterAll(async () => {
    await service?.stop();
    await ground.clear(group ? [group] : []);
  });

  test.each(['SIGKILL', 'SIGSTOP'] as const)('the primary gets a %s under load', async (signal) => {
    const load = startLoad(service, signal);
    await until('pushes before it', async () => load.accepted() > 100);
    const primary = await group.primaryOf(probeKey());
    primary.kill(signal);
    const at = performance.now();
    const writes = watchWrites(primary);
    let took: number;
    try {
      await load.allAcceptedSince(at);
      const accepted = performance.now();
      took = accepted - (await writes.since());
    } finally {
      await writes.stop();
    }
    if (signal === 'SIGSTOP') primary.kill('SIGCONT');
    else await primary.restart();
    await group.whole();
    await until('pushes after it', async () => load.accepted() > 200);
    await load.stop();
    await checkLog(service, load);
    expect(took).toBeLessThan(PROMISED);
  });

  /** A key in the same part of the Redis group as the partition jobs of the service. */
  const probeKey = () =>
    `${createRedisKeys(String(service.env.REDIS_NAMESPACE), 8).bullPrefix(0)}:probe`;

  /**
   * Writes to the primary of the group without the service, until `stop`. On a slow machine, sentinels need several
   * votes, and a new primary waits for a replica before it accepts a write. Only the time after that is the time of the
   * service. `since` resolves to the instant since which one primary has accepted each write.
   */
  const watchWrites = (dead: RedisNode) => {
    let last: { primary: RedisNode; since: number } | undefined;
    const probe = async () => {
      const since = performance.now();
      const primary = await group.primaryOf(probeKey());
      // A sentinel or a node that is late still names the dead one.
      if (primary === dead) return;
      const isAccepted = await primary.send('SET', probeKey(), '1').then(Boolean, () => false);
      if (!isAccepted) last = undefined;
      else if (last?.primary !== primary) last = { primary, since };
    };
    // While no server of the group answers, no primary is found. The primary that was found last remains.
    const loop = startPollLoop(probe, PROBE_INTERVAL, () => undefined);
    return {
      since: async () => (await until('a primary that accepts writes', async () => last)).since,
      stop: () => loop.stop(),
    };
  };

  test('all of its servers are away for a while', async () => {
    const load = startLoad(service, 'away');
    await until('pushes before it', async () => load.accepted() > 100);
    for (const node of group.all) node.kill('SIGKILL');
    await until('a push to fail', async () => load.failed() > 0);
    await Promise.all(group.all.map((node) => node.restart()));
    await group.whole();
    await load.allAcceptedSince(performance.now());
    await load.stop();
    await checkLog(service, load);
  });
});

interface Sent {
  readonly externalId: string;
  readonly answer: Answer;
  readonly endedAt: number;
}

interface Load {
  readonly sent: readonly Sent[];
  accepted(): number;
  failed(): number;
  /** Resolves once each caller had a push accepted that it sent after this instant. */
  allAcceptedSince(at: number): Promise<void>;
  stop(): Promise<void>;
}

/** Callers that push one after the other, each of a key of its own. */
function startLoad(service: Service, run: string): Load {
  const sent: Sent[] = [];
  const lastAccepted = new Map<number, number>();
  let stopped = false;
  const call = async (caller: number) => {
    const externalId = keyOf(run, caller);
    for (let n = 0; !stopped; n += 1) {
      const from = performance.now();
      const body = { matterType: 'TODO', externalId, title: `${n}` };
      const answer = await service.push('upsert', body, { url: service.urlOf(caller % 2) });
      sent.push({ externalId, answer, endedAt: performance.now() });
      if (answer.code === 0) lastAccepted.set(caller, from);
      else await sleep(RETRY_DELAY);
    }
  };
  const calling = Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));
  const count = (isCounted: (code: number) => boolean) =>
    sent.filter(({ answer }) => isCounted(answer.code)).length;
  return {
    sent,
    accepted: () => count((code) => code === 0),
    failed: () => count((code) => code !== 0),
    allAcceptedSince: (at) =>
      until('each caller to be accepted', async () => {
        const times = [...lastAccepted.values()];
        return times.length === CALLERS && times.every((time) => time > at);
      }).then(() => undefined),
    stop: async () => {
      stopped = true;
      await calling;
    },
  };
}

/** Nothing is left open; what was accepted took effect, once, in the order in which it was sent. */
async function checkLog({ db }: Service, { sent }: Load): Promise<void> {
  const log = entryModel(db);
  await until(
    'the log to be settled',
    async () => (await log.countDocuments({ state: 'QUEUED' })) === 0,
  );
  const keys = [...new Set(sent.map(({ externalId }) => externalId))];
  for (const externalId of keys) {
    const own = sent.filter((one) => one.externalId === externalId);
    for (const { answer } of own) expect([0, 503, 504]).toContain(answer.code);
    const orderOf = new Map(own.map(({ answer }, n) => [answer.requestId, n]));
    const applied = await log.find({ externalId, state: 'PERSISTED' }).sort({ revision: 1 }).lean();
    const order = applied.map(({ _id }) => orderOf.get(String(_id)) ?? -1);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(new Set(order).size).toBe(order.length);
    const accepted = own.flatMap(({ answer }, n) => (answer.code === 0 ? [n] : []));
    expect(order).toEqual(expect.arrayContaining(accepted));
    expect(applied.map(({ revision }) => revision)).toEqual(applied.map((_, n) => n + 1));
    const { title } = await storedMatter(db, externalId);
    expect(title).toBe(String(order.at(-1)));
  }
}
