/** `npm run chaos -- --soak N`: so many pushes without a fault, and whether anything grows by them. */
import type { Cluster } from './cluster';
import { runCrowd } from './crowd';
import type { Attempt } from './history';
import type { Measured, MeasureOptions } from './load-report';
import { createRandom } from './random';
import { startSampling } from './samples';
import { type SoakTenth, soakRows } from './soak-rows';
import { SMALL, withCluster } from './with-cluster';

interface SoakOptions extends Omit<MeasureOptions, 'quick'> {
  readonly seed: string;
  readonly pushes: number;
}

const CALLERS = 64;
/** Many more keys than a run of a few minutes meets twice, and a few that all callers are at. */
const KEYS = { hotKeys: 6, coldKeys: 200_000 };
const TENTHS = 10;

export function measureSoak(options: SoakOptions): Promise<Measured> {
  return withCluster({ ...options, ...SMALL }, async (cluster) => {
    const { tenths, answers } = await soak(cluster, options);
    const crashes = [...cluster.crashes];
    const figures = { pushes: options.pushes, tenths, answers, crashes };
    return { rows: soakRows({ tenths, answers, crashes }), figures };
  });
}

/** Of the answers only their number is kept: the harness is not to grow itself. */
async function soak(
  cluster: Cluster,
  { pushes, seed, say, signal }: SoakOptions,
): Promise<{ tenths: SoakTenth[]; answers: Record<string, number> }> {
  const stop = new AbortController();
  const either = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]);
  const answers: Record<string, number> = {};
  const tenths: SoakTenth[] = [];
  const taking: Promise<void>[] = [];
  let sampling = startSampling(cluster);
  let from = performance.now();
  let done = 0;

  const endTenth = async (ended: typeof sampling, seconds: number, number: number) => {
    const memory = Object.fromEntries(await ended.stop());
    const signatures = await signatureBytes(cluster);
    tenths[number] = { perSecond: pushes / TENTHS / seconds, memory, signatures };
    say(`${number + 1} of ${TENTHS} tenths: ${(pushes / TENTHS / seconds).toFixed(0)}/s`);
  };
  const record = ({ end }: Attempt) => {
    const kind = end.kind === 'answered' ? String(end.code) : end.kind;
    answers[kind] = (answers[kind] ?? 0) + 1;
    done += 1;
    const number = Math.floor((done * TENTHS) / pushes) - 1;
    if (number < taking.length || taking.length === TENTHS) return;
    taking.push(endTenth(sampling, (performance.now() - from) / 1_000, number));
    if (taking.length === TENTHS) return stop.abort();
    sampling = startSampling(cluster);
    from = performance.now();
  };
  const random = createRandom(seed);
  try {
    await runCrowd(cluster, {
      random,
      callers: CALLERS,
      keys: KEYS,
      pause: 0,
      record,
      signal: either,
    });
    signal?.throwIfAborted();
    await Promise.all(taking);
    return { tenths, answers };
  } finally {
    await sampling.stop();
  }
}

/** Redis keeps a use of every signature for eleven minutes: so long that has to grow. */
async function signatureBytes({ lookup, keys }: Cluster): Promise<number> {
  const pattern = keys.signatures(0).replace(/0$/, '*');
  const found = await lookup.keys(pattern);
  const sizes = await Promise.all(found.map((name) => lookup.memory('USAGE', name)));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}
