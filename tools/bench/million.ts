/**
 * `npm run bench -- million`: a million pushes in one go, and whether any process grows by them or the
 * rate falls. Prints a table; exits with 1 where a goal is missed. A run of the whole number is kept in
 * tools/bench/results/million.json.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Cluster } from '../chaos/cluster';
import { loadReport } from '../chaos/load-report';
import { startSampling } from '../chaos/samples';
import { SMALL, withCluster } from '../chaos/with-cluster';
import type { RunContext } from '../local/run-context';
import { untilStopped } from '../local/stop-request';
import { type Generator, startGenerator } from './generator';
import { millionRows, type Tenth } from './million-rows';

const MILLION = 1_000_000;
const TENTHS = 10;

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
    const figures = await withCluster({ ...context, ...SMALL }, async (cluster) => {
      const generator = await startGenerator(root);
      try {
        return { ...options, ...(await pushAll(cluster, generator, { ...options, ...context })) };
      } finally {
        await generator.stop();
      }
    });
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
  const { clientId, secret } = client;
  const ports = cluster.webs.map(({ url }) => Number(new URL(url).port));
  const to = { ports, clientId, secret, connections, keys: 'distinct' } as const;
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
async function signatureBytes({ lookup, keys }: Cluster): Promise<number> {
  const pattern = keys.signatures('*', 0).replace(':0:*', ':*');
  const found = await lookup.keys(pattern);
  const sizes = await Promise.all(found.map((name) => lookup.memory('USAGE', name)));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}
