/**
 * `npm run bench -- million`: a million pushes in one go, and whether any process grows by them or the
 * rate falls. Prints a table; exits with 1 where a goal is missed. A run of the whole number is kept in
 * tools/bench/results/million.json.
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
/** GB, as in the comparisons: a cache that its indexes outgrow would be measured in place of the service. */
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

/** Of distinct keys, each tenth a round of the generator: what a round does is the same in all of them. */
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

/** Redis keeps a use of every signature for 21 minutes: so long that has to grow. */
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
  /** By type of process, bytes. */
  readonly memory: Readonly<Record<string, MemorySummary>>;
  /** Bytes in Redis for the signatures of the last 21 minutes, at its end. */
  readonly signatures: number;
}

export interface MillionFigures {
  readonly tenths: readonly Tenth[];
  readonly crashes: readonly string[];
}

/** Of the third tenth, when what grows at a start has grown; below so many MiB nothing is said. */
const MEMORY = 1.15;
const NOISE = 4;
/** Of the second tenth. */
const RATE = 0.9;
/** What is to stay flat; the database fills its cache, and is told beside. */
const FLAT = ['web', 'worker', 'redis data', 'matterctl'];
/** A key-value server grows by its data: less what it is to hold. */
const HOLDS_SIGNATURES = ['redis data'];
/** Told to come again later: what a web process does while nothing is settled for seconds. */
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
      least: RATE,
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
      most: 0,
    }),
    goalRow('processes that ended', {
      value: crashes.length,
      seen: crashes.join('\n') || '0',
      most: 0,
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
    most: MEMORY,
  });
}

/** What the process of Redis takes for what it holds, signatures included: its memory must not fray. */
function overheadRow(tenths: readonly Tenth[]): ReportRow {
  const shares = tenths.map(
    ({ memory }) => (memory.redis?.last ?? 0) / (memory['redis data']?.last || 1),
  );
  const growth = (shares.at(-1) ?? 0) / (shares[2] || 1);
  return goalRow("redis' process, of all that it holds, by tenths", {
    value: growth,
    seen: `${shares.map((one) => one.toFixed(2)).join(' ')}: ${growth.toFixed(2)}`,
    most: MEMORY,
  });
}

const line = (numbers: readonly number[]) => numbers.map((one) => one.toFixed(0)).join(' ');
