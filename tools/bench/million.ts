/**
 * `npm run bench -- million`: sends a million pushes and measures whether a process grows or the rate falls. Prints a
 * table. The exit code is 1 if a goal is missed. A complete run is saved in tools/bench/results/million.json.
 */

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Cluster, SMALL, withCluster } from '../harness/cluster';
import { mib, sum } from '../harness/figures';
import { type MemorySummary, startSampling } from '../harness/memory';
import { goalRow, loadReport, type ReportRow } from '../harness/report';
import type { RunContext } from '../local/run-context';
import { untilStopped } from '../local/stop-request';
import { type Generator, startGenerator } from './generator';

const MILLION = 1_000_000;
const TENTHS = 10;
/** GB, as in the comparisons. In a smaller cache the indexes would not fit, and the run would measure the disk. */
const CACHE = 2;

interface Options {
  readonly pushes: number;
  readonly connections: number;
  readonly json: boolean;
}

/** @returns the exit code */
export async function run({ root, args, say }: RunContext): Promise<number> {
  const { json, ...options } = readOptions(args);
  return untilStopped(process.env, async (signal) => {
    const context = { root, say, signal };
    const figures = await withCluster(
      { ...context, ...SMALL, cacheSize: CACHE },
      async (cluster) => {
        const generator = await startGenerator(root);
        try {
          return { ...options, ...(await pushAll(cluster, generator, { ...options, ...context })) };
        } finally {
          await generator.stop();
        }
      },
    );
    const rows = millionRows(figures);
    const keepIn = join(root, 'tools/bench/results/million.json');
    const report = loadReport({ rows, figures }, options.pushes < MILLION ? undefined : keepIn);
    process.stdout.write(`${json ? JSON.stringify(report.summary) : report.text}\n`);
    return report.passed ? 0 : 1;
  });
}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      pushes: { type: 'string', default: String(MILLION) },
      connections: { type: 'string', default: '256' },
      json: { type: 'boolean', default: false },
    },
  });
  const [pushes, connections] = [Number(values.pushes), Number(values.connections)];
  if (!(pushes >= TENTHS) || !(connections >= 1)) {
    throw new Error(`--pushes (at least ${TENTHS}) and --connections are numbers`);
  }
  return { pushes, connections, json: values.json };
}

interface PushAllOptions extends Pick<Options, 'pushes' | 'connections'> {
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Sends pushes with distinct keys. Each tenth is one round of the generator with the same work. */
async function pushAll(
  cluster: Cluster,
  generator: Generator,
  { pushes, connections, say, signal }: PushAllOptions,
): Promise<{ tenths: Tenth[]; crashes: string[] }> {
  const [client] = cluster.clients;
  if (!client) throw new Error('the cluster has no clients');
  const { clientId, systemCode, secret } = client;
  const ports = cluster.webs.map(({ url }) => Number(new URL(url).port));
  const to = { ports, clientId, systemCode, secret, connections, keys: 'distinct' } as const;
  const tenths: Tenth[] = [];
  for (let number = 1; number <= TENTHS; number += 1) {
    const sampling = startSampling(cluster);
    try {
      const count = Math.round(pushes / TENTHS);
      const round = { ...to, name: `tenth-${number}`, until: { pushes: count } };
      const { elapsed, accepted, others } = await generator.run(round, signal);
      const perSecond = (accepted * 1_000) / elapsed;
      const memory = Object.fromEntries(await sampling.stop());
      tenths.push({ perSecond, memory, signatures: await signatureBytes(cluster), others });
      say(`${number} of ${TENTHS} tenths: ${perSecond.toFixed(0)}/s`);
    } finally {
      await sampling.stop();
    }
  }
  return { tenths, crashes: [...cluster.crashes] };
}

/**
 * @returns the bytes of the used signatures in Redis. Redis keeps them for 21 minutes, so they may grow for that time
 */
export async function signatureBytes({ lookup, keys }: Cluster): Promise<number> {
  const pattern = keys.signatures('*', 0).replace(':0:*', ':*');
  const found = await lookup.keys(pattern);
  const sizes = await Promise.all(found.map((name) => lookup.memory('USAGE', name)));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

/** A tenth of the pushes. */
export interface Tenth {
  readonly perSecond: number;
  /** Answers other than code 0, by status and reason. */
  readonly others: Readonly<Record<string, number>>;
  /** Bytes, by type of process. */
  readonly memory: Readonly<Record<string, MemorySummary>>;
  /** Bytes of used signatures in Redis at the end of the tenth. */
  readonly signatures: number;
}

export interface MillionFigures {
  readonly tenths: readonly Tenth[];
  readonly crashes: readonly string[];
}

/**
 * Limit for the memory after the last tenth, as a multiple of the memory after the third tenth. By then the initial
 * growth has ended. Growth of less than NOISE MiB is ignored.
 */
const MEMORY = 1.15;
const NOISE = 4;
/** Lower limit for the rate of the last tenth, as a fraction of the rate of the second tenth. */
const RATE = 0.9;
/** Types of processes whose memory must not grow. The database fills its cache, so the report only shows its memory. */
const FLAT = ['web', 'worker', 'redis data', 'matterctl'];
/** Types from whose memory the report subtracts the signatures, because the signatures may grow. */
const HOLDS_SIGNATURES = ['redis data'];
/**
 * The answer to a push that a web process sheds, because no push was settled for seconds. It does not count as a
 * failure.
 */
const SHED = '503 BACKLOG_FULL';

export function millionRows({ tenths, crashes }: MillionFigures): ReportRow[] {
  const rates = tenths.map(({ perSecond }) => perSecond);
  const kept = (rates.at(-1) ?? 0) / (rates[1] || 1);
  const others = tenths.flatMap((tenth) => Object.entries(tenth.others));
  const failed = others.filter(([what]) => what !== SHED);
  const count = sum(failed.map(([, number]) => number));
  return [
    { what: 'pushes per second, by tenths', seen: line(rates) },
    goalRow('rate of the last tenth, of the second', {
      value: kept,
      seen: kept.toFixed(2),
      min: RATE,
    }),
    ...FLAT.filter((type) => tenths[0]?.memory[type]).map((type) => flatRow(type, tenths)),
    overheadRow(tenths),
    {
      what: 'database: MiB, by tenths',
      seen: line(tenths.map(({ memory }) => mib(memory.mongo?.last ?? 0))),
    },
    {
      what: 'memory of signatures in Redis: MiB, by tenths',
      seen: line(tenths.map(({ signatures }) => mib(signatures))),
    },
    {
      what: `shed (${SHED}), by tenths`,
      seen: tenths.map((tenth) => tenth.others[SHED] ?? 0).join(' '),
    },
    goalRow('other answers than code 0', {
      value: count,
      seen: [count, ...failed.map(([what, number]) => `${what}: ${number}`)].join(' '),
      max: 0,
    }),
    goalRow('processes that ended', {
      value: crashes.length,
      seen: crashes.join('\n') || '0',
      max: 0,
    }),
  ];
}

function flatRow(type: string, tenths: readonly Tenth[]): ReportRow {
  const isLess = HOLDS_SIGNATURES.includes(type);
  const sizes = tenths.map(({ memory, signatures }) =>
    mib((memory[type]?.last ?? 0) - (isLess ? signatures : 0)),
  );
  const before = sizes[2] ?? 0;
  const after = sizes.at(-1) ?? 0;
  const growth = after - before < NOISE ? Math.min(1, after / before) : after / before;
  return goalRow(`${type}${isLess ? ' without signatures' : ''}: MiB, by tenths`, {
    value: growth,
    seen: `${line(sizes)}: ${(after / before).toFixed(2)}`,
    max: MEMORY,
  });
}

/**
 * Compares the memory of the Redis process with the size of its data, including signatures. A growing ratio means
 * that the memory is fragmented.
 */
function overheadRow(tenths: readonly Tenth[]): ReportRow {
  const shares = tenths.map(
    ({ memory }) => (memory.redis?.last ?? 0) / (memory['redis data']?.last || 1),
  );
  const growth = (shares.at(-1) ?? 0) / (shares[2] || 1);
  return goalRow("redis' process, of all that it holds, by tenths", {
    value: growth,
    seen: `${shares.map((one) => one.toFixed(2)).join(' ')}: ${growth.toFixed(2)}`,
    max: MEMORY,
  });
}

const line = (numbers: readonly number[]) => numbers.map((one) => one.toFixed(0)).join(' ');
