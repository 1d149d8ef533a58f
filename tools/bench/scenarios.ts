/** What is measured, and what each figure is held against. */
import type { ContenderName, Size } from './contenders';
import type { KeyChoice } from './load/pushes';

export interface Scenario {
  readonly name: string;
  /** `file`: the pushes of the file that the command line names. */
  readonly keys: KeyChoice | 'file';
  readonly connections: number;
  readonly sizes: readonly Size[];
  readonly contenders: readonly ContenderName[];
  /** Milliseconds by which every answer of the database is late. */
  readonly latency?: number;
  /** Settings that the processes of the contenders get besides the usual ones. */
  readonly env?: Readonly<Record<string, string>>;
  /** Left out by --quick. */
  readonly isLong?: boolean;
}

const ONE = [{ webs: 1, workers: 1 }];
const ALL: ContenderName[] = [
  ...(['matter-push', 'direct', 'bullmq-job', 'bullmq-shards', 'groupmq', 'web-only'] as const),
];
const MAIN: ContenderName[] = ['matter-push', 'direct', 'bullmq-job', 'web-only'];
const OURS: ContenderName[] = ['matter-push'];
/** The queues among the peers know upserts alone. */
const MIXED: ContenderName[] = ['matter-push', 'direct', 'web-only'];

export const SCENARIOS: readonly Scenario[] = [
  { name: 'distinct-1', keys: 'distinct', connections: 1, sizes: ONE, contenders: MAIN },
  { name: 'distinct-64', keys: 'distinct', connections: 64, sizes: ONE, contenders: ALL },
  { name: 'distinct-256', keys: 'distinct', connections: 256, sizes: ONE, contenders: ALL },
  { name: 'hot-64', keys: 'hot', connections: 64, sizes: ONE, contenders: ALL, isLong: true },
  { name: 'hot-256', keys: 'hot', connections: 256, sizes: ONE, contenders: ALL },
  { name: 'file-64', keys: 'file', connections: 64, sizes: ONE, contenders: MIXED },
  { name: 'zipf-64', keys: 'zipf', connections: 64, sizes: ONE, contenders: ALL, isLong: true },
  {
    ...{
      name: 'workers',
      keys: 'distinct',
      connections: 256,
      contenders: OURS,
      latency: 5,
      // With its usual eight partition jobs at a time one worker overlaps the waits of all partitions
      // by itself.
      env: { WORKER_CONCURRENCY: '1' },
      isLong: true,
    },
    sizes: [1, 2, 4].map((workers) => ({ webs: 1, workers })),
  },
  {
    ...{ name: 'web-processes', keys: 'distinct', connections: 64, contenders: OURS, isLong: true },
    sizes: [1, 4, 16].map((webs) => ({ webs, workers: 1 })),
  },
];
