/** Samples the memory of every process of a run about once a second. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startPollLoop } from '../../src/concurrency/timing';
import type { Cluster } from './cluster';
import { mean } from './figures';
import type { Member } from './member';

/** `redis data` is the memory that Redis reports; the others are resident memory. */
const MEMORY_TYPES = ['web', 'worker', 'mongo', 'redis', 'redis data', 'matterctl'] as const;
type MemoryType = (typeof MEMORY_TYPES)[number];

/** Bytes of one process: the means of the first and of the last tenth of the run, and the maximum. */
export interface MemorySummary {
  readonly first: number;
  readonly last: number;
  readonly max: number;
}

export interface Sampling {
  /** @returns the summary of each type; a type without samples is absent */
  stop(): Promise<ReadonlyMap<MemoryType, MemorySummary>>;
}

const INTERVAL = 800;
/** Milliseconds for one sample. */
const TIMEOUT = 1_000;
const run = promisify(execFile);

/** @param matterctl the process id of matterctl if it is part of the run */
export function startSampling(cluster: Cluster, matterctl?: number): Sampling {
  const seen = new Map<MemoryType, number[][]>(MEMORY_TYPES.map((type) => [type, []]));
  const sampler = startPollLoop(
    async () => {
      for (const [type, look] of looks(cluster, matterctl)) {
        // A process that is down has no memory.
        const sizes = (await Promise.all(look)).filter((size) => size !== undefined);
        if (sizes.length > 0) seen.get(type)?.push(sizes);
      }
    },
    INTERVAL,
    () => undefined,
  );
  return {
    stop: async () => {
      await sampler.stop();
      const taken = [...seen].filter(([, samples]) => samples.length > 0);
      return new Map(taken.map(([type, samples]) => [type, summarize(samples)]));
    },
  };
}

function looks(
  cluster: Cluster,
  matterctl: number | undefined,
): (readonly [MemoryType, Promise<number | undefined>[]])[] {
  const resident = (members: readonly Member[]) =>
    members.map((member) => residentOf(member.pid()));
  return [
    ['web', resident(cluster.webs)],
    ['worker', resident(cluster.workers)],
    ['mongo', resident(cluster.mongo.members)],
    ['redis', resident([cluster.redis])],
    ['redis data', cluster.redis.pid() === undefined ? [] : [usedBy(cluster)]],
    ['matterctl', [residentOf(matterctl)]],
  ];
}

/** @param samples one list of sizes for each time, never empty */
function summarize(samples: readonly (readonly number[])[]): MemorySummary {
  const tenth = Math.ceil(samples.length / 10);
  const meanOf = (part: readonly (readonly number[])[]) => {
    const sizes = part.flat();
    return Math.round(mean(sizes));
  };
  return {
    first: meanOf(samples.slice(0, tenth)),
    last: meanOf(samples.slice(-tenth)),
    max: Math.max(...samples.map((sizes) => Math.max(...sizes))),
  };
}

/** @returns undefined if the process does not run */
async function residentOf(pid: number | undefined): Promise<number | undefined> {
  if (pid === undefined) return undefined;
  try {
    return 1024 * (await kibibytesOf(pid));
  } catch {
    return undefined;
  }
}

async function kibibytesOf(pid: number): Promise<number> {
  if (!existsSync('/proc/self/status')) {
    return Number((await run('ps', ['-o', 'rss=', '-p', String(pid)])).stdout);
  }
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (found === undefined) throw new Error(`process ${pid} has no memory any more`);
  return Number(found);
}

async function usedBy({ lookup }: Cluster): Promise<number | undefined> {
  // A dead server answers after its restart, which would take too long.
  const info = await Promise.race([lookup.info('memory'), sleep(TIMEOUT, '', { ref: false })]);
  return info === '' ? undefined : Number(/^used_memory:(\d+)/m.exec(info)?.[1]);
}
