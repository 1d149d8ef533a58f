/** Each alert fires in its own trouble, and none where all is well: from what the service tells on. */

import type { Metrics } from '../../../src/observability/metrics';
import { readServers } from '../../../src/observability/metrics/prometheus';
import { createMetrics, createRegistry } from '../../../src/observability/metrics/registry';
import { PushError, type Reason } from '../../../src/protocol/errors';
import { BATCH_PATH } from '../../../src/protocol/paths';
import { alerts, type Sample, samplesIn } from '../../support/prometheus';
import { evaluate } from '../../support/promql';

const ALERTS = alerts();
/** Seconds between two looks. */
const APART = 300;
const NOW = 1_000_000;
const UPSERT = '/api/open/matters/upsert';
const GOOD = { database: true, queue: true, oldest: 100, workers: 2 };

type Servers = typeof GOOD;

/** Processes of a deployment, and what Prometheus would know of them. */
function deployment(types: readonly ('web' | 'worker')[]) {
  const registries = types.map(createRegistry);
  const all = registries.map((registry) =>
    createMetrics(registry, { clock: () => NOW, redisTime: async () => NOW }),
  );
  const scrape = async ({ database, queue, oldest, workers }: Servers): Promise<Sample[]> => {
    const answer = async <T>(value: T, is = queue) =>
      is ? value : Promise.reject(new Error('away'));
    const texts = registries.map(async (registry) => {
      const servers = {
        pingDatabase: () => answer(1, database),
        pingQueue: () => answer(1),
        pingPrimary: () => answer(1),
        partitions: () => answer([{ waiting: 3, oldestMs: oldest }]),
        workers: () => answer(workers),
      };
      await readServers(servers, registry);
      return samplesIn(await registry.registry.metrics());
    });
    return (await Promise.all(texts)).flat();
  };
  const every = (times: number, act: (metrics: Metrics) => void) => {
    for (const metrics of all) for (let n = 0; n < times; n += 1) act(metrics);
  };
  return { scrape, every };
}

const answered =
  (ms: number, path = UPSERT) =>
  (metrics: Metrics) =>
    metrics.answered(path, NOW - ms, 'CREATED');
const shedBatch = (lines: number) => (metrics: Metrics) =>
  metrics.lines(undefined, lines, new PushError('BACKLOG_FULL'));
const rejected = (reason: Reason) => (metrics: Metrics) =>
  metrics.rejected(UPSERT, NOW - 5, new PushError(reason));
const REASONS: readonly Reason[] = [
  'INTERNAL_ERROR',
  'CONFIRMATION_TIMEOUT',
  'BACKLOG_FULL',
  'PARTITION_FULL',
  'PARTITION_BYTES_FULL',
  'QUEUE_MEMORY_FULL',
  'TOO_MANY_IN_FLIGHT',
  'IN_FLIGHT_BYTES_FULL',
  'TOO_MANY_QUERIES',
  'RATE_LIMITED',
  'SIGNATURE_MISMATCH',
  'CLIENT_PAUSED',
  'VALIDATION_FAILED',
];

interface Trouble {
  readonly types?: readonly ('web' | 'worker')[];
  readonly servers?: Partial<Servers>;
  /** What every process tells, and how often in five minutes. */
  readonly told?: readonly [times: number, act: (metrics: Metrics) => void];
}

/** Which alerts fire after five minutes of it, beside a thousand pushes that go well. */
async function firing({ types = ['web', 'worker'], servers = {}, told }: Trouble) {
  const { scrape, every } = deployment(types);
  // Everything has been there once.
  every(1, answered(20));
  every(1, answered(20, BATCH_PATH));
  every(1, shedBatch(1));
  for (const reason of REASONS) every(1, rejected(reason));
  const before = await scrape(GOOD);
  every(1_000, answered(20));
  if (told) every(...told);
  const after = await scrape({ ...GOOD, ...servers });
  const scrapes = { before, after, apart: APART };
  return ALERTS.filter(({ expr }) => evaluate(expr, scrapes).length > 0).map(({ alert }) =>
    alert.replace('MatterPush', ''),
  );
}

test.each<[string, Trouble]>([
  ['all is well', {}],
  ['some bodies are wrong', { told: [900, rejected('VALIDATION_FAILED')] }],
  ['an operator has paused a busy client', { told: [900, rejected('CLIENT_PAUSED')] }],
  ['a few are over their rate', { told: [100, rejected('RATE_LIMITED')] }],
  ['a worker died', { told: [1, (metrics) => metrics.jobReclaimed()] }],
  ['pushes wait for a moment', { servers: { oldest: 2_000 } }],
  ['two pushes in a hundred are slow', { told: [20, answered(4_000)] }],
])('%s: nothing fires', async (_what, trouble) => {
  expect(await firing(trouble)).toEqual([]);
});

const troubles: [string, Trouble, string[]][] = [
  ['no web is there', { types: ['worker'] }, ['NotScraped']],
  ['no worker tells anything', { types: ['web'] }, ['NotScraped']],
  ['MongoDB is away', { servers: { database: false } }, ['ServerDown']],
  ['Redis is away', { servers: { queue: false } }, ['ServerDown']],
  ['there is no worker', { servers: { workers: 0 } }, ['NoWorker']],
  [
    'a partition stands still',
    { servers: { oldest: 31_000 } },
    ['PartitionStuck', 'OldestWaiting'],
  ],
  ['pushes wait for long', { servers: { oldest: 6_000 } }, ['OldestWaiting']],
  ['pushes fail', { told: [60, rejected('INTERNAL_ERROR')] }, ['Failing']],
  ['pushes are not confirmed', { told: [20, rejected('CONFIRMATION_TIMEOUT')] }, ['Timeouts']],
  ['pushes are shed', { told: [20, rejected('BACKLOG_FULL')] }, ['Shedding']],
  ['partitions are full', { told: [20, rejected('PARTITION_FULL')] }, ['Shedding']],
  ['partitions are full in bytes', { told: [20, rejected('PARTITION_BYTES_FULL')] }, ['Shedding']],
  ['Redis is full', { told: [20, rejected('QUEUE_MEMORY_FULL')] }, ['Shedding']],
  ['a process has its fill', { told: [20, rejected('TOO_MANY_IN_FLIGHT')] }, ['Shedding']],
  ['its bodies are too many', { told: [20, rejected('IN_FLIGHT_BYTES_FULL')] }, ['Shedding']],
  ['too much is asked', { told: [20, rejected('TOO_MANY_QUERIES')] }, ['Shedding']],
  ['a client is over its rate', { told: [200, rejected('RATE_LIMITED')] }, ['RateLimited']],
  ['signatures are wrong', { told: [200, rejected('SIGNATURE_MISMATCH')] }, ['BadSignatures']],
  ['pushes are slow', { told: [100, answered(3_000)] }, ['Slow']],
  [
    'batches are slow, which says nothing of single pushes',
    { told: [100, answered(15_000, BATCH_PATH)] },
    ['BatchesSlow'],
  ],
  [
    'batches are shed: their lines are pushes that fail',
    { told: [1, shedBatch(200)] },
    ['Failing', 'Shedding'],
  ],
  [
    'partition jobs fail',
    { told: [20, (metrics) => metrics.jobFailed()] },
    ['PartitionJobsFailing'],
  ],
  [
    'partition jobs are reclaimed',
    { told: [2, (metrics) => metrics.jobReclaimed()] },
    ['PartitionJobsReclaimed'],
  ],
  ['guards fail', { told: [200, (metrics) => metrics.conflict()] }, ['GuardConflicts']],
  ['replies are lost', { told: [5, (metrics) => metrics.replyLost()] }, ['RepliesLost']],
];

test.each(troubles)('%s: that is what fires', async (_what, trouble, expected) => {
  expect(await firing(trouble)).toEqual(expected);
});

test('every alert has its trouble here', () => {
  const told = new Set(troubles.flatMap(([, , names]) => names));
  expect([...told].sort()).toEqual(ALERTS.map(({ alert }) => alert.slice(10)).sort());
});
