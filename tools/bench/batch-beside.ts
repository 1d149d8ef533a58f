/**
 * `npm run bench -- batch-beside`: measures how the batches of one client slow down the single pushes of another
 * client. Prints a table. The exit code is 1 if a goal is missed.
 */
import { type Cluster, withCluster } from '../harness/cluster';
import type { DirectoryClient } from '../harness/directory';
import { median, sum } from '../harness/figures';
import { goalRow, loadReport, type ReportRow } from '../harness/report';
import type { RunContext } from '../local/run-context';
import { untilStopped } from '../local/stop-request';
import { type Generator, startGenerator } from './generator';
import type { Round, RoundResult } from './load/generator';
import { type RoundArguments, readRoundArguments } from './round-arguments';

/** The load of one client. `lines`: pushes per request; undefined: single pushes. */
interface Load {
  readonly connections: number;
  readonly lines?: number;
}

interface Setting {
  readonly name: string;
  readonly singles: Load;
  readonly other?: Load;
}

const FEW = { connections: 4 };
const ALONE = { name: '4 connections alone', singles: FEW };
const BESIDE_PUSHES: Setting = {
  ...{ name: '4 beside 64 with single pushes', singles: FEW },
  other: { connections: 64 },
};
const BESIDE_ONE: Setting = {
  ...{ name: '4 beside 1 with batches of 200', singles: FEW },
  other: { connections: 1, lines: 200 },
};
const BESIDE_EIGHT: Setting = {
  ...{ name: '4 beside 8 with batches of 200', singles: FEW },
  other: { connections: 8, lines: 200 },
};
/** Both clients send more than the service can process. */
const OVERLOAD: Setting = {
  ...{ name: '256 beside 8 with batches of 200', singles: { connections: 256 } },
  other: { connections: 8, lines: 200 },
};
const SETTINGS: readonly Setting[] = [ALONE, BESIDE_PUSHES, BESIDE_ONE, BESIDE_EIGHT, OVERLOAD];

/** @returns the exit code */
export async function run({ root, args, say }: RunContext): Promise<number> {
  const { json, ...options } = readRoundArguments(args);
  return untilStopped(process.env, async (signal) => {
    const context = { root, say, signal };
    const rounds = await withCluster({ ...context, webs: 1, workers: 1 }, (cluster) =>
      measure(cluster, { ...options, ...context }),
    );
    const report = loadReport({ rows: besideRows(rounds), figures: { rounds } }, undefined);
    process.stdout.write(`${json ? JSON.stringify(report.summary) : report.text}\n`);
    return report.passed ? 0 : 1;
  });
}

interface BesideRound {
  readonly setting: string;
  readonly singles: RoundResult;
  readonly other?: RoundResult;
}

interface MeasureOptions extends Omit<RoundArguments, 'json'> {
  readonly root: string;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

async function measure(cluster: Cluster, options: MeasureOptions): Promise<BesideRound[]> {
  const generators = await Promise.all([
    startGenerator(options.root),
    startGenerator(options.root),
  ]);
  try {
    const done: BesideRound[] = [];
    // This run warms up the processes and does not count.
    await runSetting(cluster, generators, OVERLOAD, { ...options, round: 0 });
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const setting of SETTINGS) {
        const result = await runSetting(cluster, generators, setting, { ...options, round });
        done.push(result);
        options.say(`${setting.name}: ${summaryOf(result)}`);
      }
    }
    return done;
  } finally {
    for (const generator of generators) await generator.stop();
  }
}

const summaryOf = ({ singles, other }: BesideRound) =>
  `p50 ${singles.p50.toFixed(1)} ms, p99 ${singles.p99.toFixed(1)} ms, ${perSecond(singles)}/s` +
  (other ? `; the other ${perSecond(other)}/s` : '');

/** Milliseconds before the measurement starts. */
const WARM_UP = 2_000;

async function runSetting(
  { clients, webs }: Cluster,
  [one, two]: readonly Generator[],
  { name, singles, other }: Setting,
  { round, duration, signal }: MeasureOptions & { readonly round: number },
): Promise<BesideRound> {
  // The clients belong to two systems, so that they never push the same matter.
  const [quiet, , noisy] = clients;
  if (!quiet || !noisy || !one || !two) throw new Error('too few clients or generators');
  const ports = webs.map(({ url }) => Number(new URL(url).port));
  const until = { warmUp: WARM_UP, duration };
  const of = ({ clientId, systemCode, secret }: DirectoryClient, load: Load): Round => ({
    ...{ ports, clientId, systemCode, secret, keys: 'distinct', until },
    ...{ ...load, name: `${round} ${name} ${clientId}` },
  });
  const [first, second] = await Promise.all([
    one.run(of(quiet, singles), signal),
    other && two.run(of(noisy, other), signal),
  ]);
  return { setting: name, singles: first, ...(second && { other: second }) };
}

/** Limit for the p99 beside batches, as a multiple of the p99 of the client alone. */
const MAX_P99_RATIO = 2;
/**
 * Limit under overload for the rate of the client with batches, as a multiple of the rate of the client with single
 * pushes.
 */
const MAX_RATE_RATIO = 1.5;

export function besideRows(rounds: readonly BesideRound[]): ReportRow[] {
  const p99 = ({ name }: Setting) => median(of(rounds, name).map(({ singles }) => singles.p99));
  const alone = Math.max(p99(ALONE), 0.1);
  const p99Ratio = p99(BESIDE_EIGHT) / alone;
  const rateRatio = median(
    of(rounds, OVERLOAD.name).map(({ singles, other }) =>
      other ? other.accepted / other.elapsed / (singles.accepted / singles.elapsed) : Number.NaN,
    ),
  );
  const failed = sum(
    rounds.flatMap(({ setting, singles }) =>
      setting === OVERLOAD.name ? [] : Object.values(singles.others),
    ),
  );
  return [
    ...SETTINGS.map(({ name }) => ({
      what: name,
      seen: of(rounds, name).map(summaryOf).join('\n'),
    })),
    { what: 'p99 beside single pushes / alone', seen: (p99(BESIDE_PUSHES) / alone).toFixed(2) },
    { what: 'p99 beside 1 x 200 / alone', seen: (p99(BESIDE_ONE) / alone).toFixed(2) },
    goalRow('p99 beside 8 x 200 / alone', {
      value: p99Ratio,
      seen: p99Ratio.toFixed(2),
      max: MAX_P99_RATIO,
    }),
    goalRow('overload: pushes per second in batches / in single pushes', {
      value: rateRatio,
      seen: rateRatio.toFixed(2),
      max: MAX_RATE_RATIO,
    }),
    goalRow('single pushes that failed beside batches', {
      value: failed,
      seen: String(failed),
      max: 0,
    }),
  ];
}

const of = (rounds: readonly BesideRound[], name: string) =>
  rounds.filter(({ setting }) => setting === name);

const perSecond = ({ accepted, elapsed }: RoundResult) => Math.round((accepted * 1_000) / elapsed);
