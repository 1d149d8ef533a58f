/** What operators see of the processes and in their servers: metrics, Redis, MongoDB, a full queue. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import type { PartitionView } from '../../../src/queue/inspect/view';
import type { ServiceStatus } from '../../../src/status/status';
import { type RunningServer, startRedis } from '../../../tools/local/servers';
import { matterctl } from '../../support/cli-tool';
import { expectGolden, fieldsOf, normalised, shapeOf } from '../../support/golden';
import { expense, FULL, PUSHES } from '../../support/golden-ledger';
import { samplesIn } from '../../support/prometheus';
import type { Answer } from '../../support/pusher';
import { type Service, startService } from '../../support/service';
import { statusOf } from '../../support/status-of';
import { until } from '../../support/wait';

const HELD = expense('HELD');
const ENGLISH = { headers: { 'Accept-Language': 'en' } };
let service: Service;
const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-golden-'));
let server: RunningServer;
let redis: Redis;
let monitor: Redis;
/** Of every command that the service gives Redis. */
const keysSeen = new Set<string>();

beforeAll(async () => {
  // Of its own: a command of somebody else that comes with the answer to MONITOR breaks the connection.
  server = await startRedis({ dir });
  redis = new Redis(server.url);
  monitor = redis.duplicate({ monitor: true });
  await new Promise<void>((resolve) => monitor.once('monitoring', () => resolve()));
  service = await startService({
    processes: true,
    redisUrl: server.url,
    metrics: true,
    env: { PARTITION_LIMIT: '1', SIGNATURE_GRACE: '0', RATE_LIMIT: '100000' },
  });
  await service.startWeb({ PUSH_TIMEOUT: '4s' });
  monitor.on('monitor', (_time: string, args: string[]) => {
    // The name of a connection is no key, and a pattern is what this test looks for.
    if (/^(client|keys)$/i.test(String(args[0]))) return;
    const tag = `{${service.env.REDIS_NAMESPACE}}`;
    // `:nothing` is never written.
    const keys = args.filter((arg) => arg.startsWith(tag) && !arg.endsWith(':nothing'));
    // Scripts are given the beginnings of names, too.
    for (const key of keys) if (!key.endsWith(':')) keysSeen.add(keyShape(key));
  });
  for (const [, operation, body, idempotencyKey] of PUSHES) {
    await service.push(operation, body, idempotencyKey ? { idempotencyKey } : {});
  }
  await service.push('upsert', FULL, { secret: 'wrong' });
  // For the audit trail, and a client with every field.
  await run('client', 'create', '--id', 'g-audited', '--system-code', 'G-NEW');
  await run('client', 'limit', 'g-audited', '--rate', '5', '--burst', '5');
  await run('queue', 'pause', 'g-audited', '--reason', 'a reason');
  // Metrics ask Redis whether it takes writes.
  await statusOf(String(service.metricsUrls[0]));
});
afterAll(async () => {
  for (const worker of service.workers) worker.kill('SIGCONT');
  monitor.disconnect();
  redis.disconnect();
  await service.stop();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

const run = (...args: string[]) => matterctl(args, { env: service.env });
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);

/** What BullMQ keeps below its queue is its own. */
function keyShape(key: string): string {
  return key
    .replace(String(service.env.REDIS_NAMESPACE), '<namespace>')
    .replace(/(:partition-jobs-\d+).*/, '$1:<BullMQ>')
    .replace(/(:partition:\d+|:worker):\d+$/, '$1:<number>')
    .replace(/(:first-uses):\d+:/, '$1:<minute>:')
    .replace(/(:replies|:rings):.+/, '$1:<process>')
    .replace(/:tester$/, ':<client>');
}

test('metrics: their names, types, labels and help', async () => {
  const told: Record<string, object> = {};
  for (const [n, of] of ['web', 'worker'].entries()) {
    // What a slow server does not tell in time is left out.
    const text = await until('metrics of the servers', async () => {
      const scraped = await (await fetch(String(service.metricsUrls[n]))).text();
      const isWhole = ['queue_waiting', 'workers{'].every((name) => scraped.includes(name));
      return isWhole && scraped;
    });
    told[of] = Object.fromEntries(metricsIn(text));
  }
  expectGolden('metrics.json', told);
});

function metricsIn(text: string): [string, object][] {
  const samples = samplesIn(text);
  return [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm)].map((found) => {
    const [, name = '', help, type] = found;
    // Those of the runtime come and go with what happens in it.
    if (!name.startsWith('matter_push_')) return [name, { help, type }];
    const own = samples.filter(
      (sample) => sample.name.replace(/_(bucket|sum|count)$/, '') === name,
    );
    const labels = new Set(own.flatMap((sample) => Object.keys(sample.labels)));
    return [name, { help, type, labels: [...labels].sort() }];
  });
}

test('the status of the whole: the fields of --json', async () => {
  const status = await until('all processes and pushes', async () => {
    const found: ServiceStatus = await json('status');
    const { processes, partitions, flow, clients, resendable } = found;
    const isKnown = processes?.length === 3 && clients && resendable && flow?.results[0];
    const isCalm = partitions?.every(({ job }) => job === null);
    return isKnown && isCalm ? found : undefined;
  });
  // Outages and reasons are there or not, as it happens.
  const servers = status.servers.map((server) => ({ ...server, lastOutage: null }));
  const resendable = { ...status.resendable, reasons: {} };
  expectGolden('matterctl-status.json', fieldsOf({ ...status, servers, resendable }));
});

test('a worker that stands still: what is answered, what the queue holds, how it is told', async () => {
  const [worker] = service.workers;
  worker?.kill('SIGSTOP');
  const held = service.push('upsert', HELD, { idempotencyKey: 'held' });
  const partition = await until('the push to be in its partition', async () => {
    return (await redis.keys(`{${service.env.REDIS_NAMESPACE}}:partition:*`))[0];
  });
  await until('its partition job to be there', async () =>
    (await json('queue', 'partitions')).some(({ job }: PartitionView) => job !== null),
  );
  const answers = {
    PARTITION_FULL: bodyOf(await service.push('upsert', HELD)),
    'PARTITION_FULL, English': bodyOf(await service.push('upsert', HELD, ENGLISH)),
    CONFIRMATION_TIMEOUT: bodyOf(await unconfirmed()),
    'CONFIRMATION_TIMEOUT, English': bodyOf(await unconfirmed(ENGLISH)),
  };
  const item = String(await redis.lindex(partition, 0));
  const commands: Record<string, string[]> = {};
  for (const command of ['stats', 'partitions', 'oldest']) {
    const fields = fieldsOf(await json('queue', command));
    commands[`queue ${command}`] = fields.filter((field) => !field.startsWith('stuck'));
  }
  const [head = ''] = (await run('queue', 'oldest')).stdout.split('\n');
  commands['head of queue oldest'] = head.trim().split(/\s{2,}/);
  worker?.kill('SIGCONT');
  expect(await held).toMatchObject({ code: 0 });
  expectGolden('answers-queue.json', answers);
  expectGolden('queue-commands.json', commands);
  expectGolden('queued-record.json', {
    head: item.slice(0, item.indexOf('{')).replace(/^\d{26}[0-9a-f]{24}$/, '<times><requestId>'),
    push: shapeOf(JSON.parse(item.slice(item.indexOf('{')))),
  });
});

/** A push to a partition that nothing waits in, through a web that waits for half a second. */
function unconfirmed(more: object = {}): Promise<Answer> {
  let n = 0;
  return until('a push that is not confirmed', async () => {
    n += 1;
    const answer = await service.push('upsert', expense(`LATE-${n}`), {
      ...more,
      url: service.urlOf(1),
    });
    return answer.reason === 'CONFIRMATION_TIMEOUT' && answer;
  });
}

function bodyOf({ headers, ...body }: Answer): unknown {
  return normalised({ ...body, retryAfter: headers['retry-after'] ?? null });
}

test('a signature that was used for something else', async () => {
  await service.push('upsert', expense('REUSED'));
  const timestamp = String(Math.floor(Date.now() / 1000) - 4);
  const body = { externalId: 'REUSED' };
  expect(await service.push('reopen', body, { timestamp })).toMatchObject({ code: 0 });
  const again = {
    chinese: await service.push('delete', body, { timestamp }),
    english: await service.push('delete', body, { timestamp, ...ENGLISH }),
  };
  const told = Object.entries(again).map(([language, answer]) => [language, bodyOf(answer)]);
  expectGolden('answers-signature.json', Object.fromEntries(told));
});

test('Redis: the shapes of all keys and channels', async () => {
  await until('the last of the keys', async () =>
    ['process-heartbeats', 'probe', 'owners:6', 'worker:<number>'].every((end) =>
      [...keysSeen].some((key) => key.endsWith(end)),
    ),
  );
  expectGolden('redis-keys.txt', [...keysSeen].sort());
});

test('MongoDB: collections, their indexes, and the fields of a document of each', async () => {
  const names = (await service.db.listCollections()).map(({ name }) => name).sort();
  const told: Record<string, object> = {};
  for (const name of names) {
    const collection = service.db.collection(name);
    const document = await until(`a document of ${name}`, async () => {
      const own = { externalId: 'G-1', operation: 'status' };
      return (
        (await collection.findOne(own)) ?? (await collection.findOne({}, { sort: { _id: 1 } }))
      );
    });
    // As text: the order of the fields of a key is part of it.
    const indexes = (await collection.indexes()).map(({ v, ...index }) => ({
      ...index,
      key: Object.entries(index.key).map(([field, way]) => `${field}: ${way}`),
    }));
    told[name] = {
      indexes: indexes.sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1)),
      fields: shapeOf(document, bsonType),
    };
  }
  expectGolden('mongodb.json', told);
});

function bsonType(leaf: unknown): string {
  if (leaf === null) return 'null';
  return typeof leaf === 'object' ? leaf.constructor.name : typeof leaf;
}
