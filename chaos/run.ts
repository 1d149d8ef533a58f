/** One chaos run: callers at work, faults from a plan, a calm end, and the check of all of it. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { check } from './check/check';
import type { Violation } from './check/evidence';
import { type Cluster, startCluster } from './cluster';
import { runCrowd } from './crowd';
import { collectEvidence } from './evidence';
import { runFaults } from './faults';
import { inFolder } from './folder';
import type { Attempt, History } from './history';
import { settle } from './leftovers';
import { type Breakable, MECHANISMS, type Mechanism } from './mechanisms';
import { type FaultMix, planFaults } from './plan';
import { createRandom } from './random';
import { type Sampling, startSampling } from './samples';

export interface ChaosOptions {
  /** The project's folder; dist/ must be built. */
  readonly root: string;
  readonly seed: string;
  /** Milliseconds in which faults happen. */
  readonly duration: number;
  readonly callers: number;
  readonly webs: number;
  readonly workers: number;
  /** All kinds at their usual pace, where absent. */
  readonly mix?: FaultMix;
  /** Runs without this mechanism: the check must find something then. */
  readonly broken?: Mechanism;
  readonly say: (text: string) => void;
  readonly signal?: AbortSignal;
}

export interface ChaosResult {
  readonly history: History;
  readonly violations: readonly Violation[];
  /** Milliseconds from the end of the last fault to the last answer that somebody had to retry. */
  readonly recoveredAfter: number;
  readonly crashes: readonly string[];
  /** Of each type of process. */
  readonly memory: Awaited<ReturnType<Sampling['stop']>>;
}

const USUAL_TIMEOUT = '5s';
/** Milliseconds without faults before the plan starts, and after it ends. */
const WARM_UP = 2_000;
const CALM = 13_000;
const SHORT_CALM = 500;
const PROGRESS = 10_000;
const KEYS = { hotKeys: 6, coldKeys: 4_000 };

/** @throws Error where something of the harness itself fails: a server that does not come back */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { root, broken, webs, workers, signal } = options;
  const breakable: Breakable | undefined = broken && MECHANISMS[broken];
  return inFolder(async (folder) => {
    const cluster = await startCluster({
      root,
      folder,
      webs,
      workers,
      env: { PUSH_TIMEOUT: USUAL_TIMEOUT, ...breakable?.env },
      preload: broken ? [join(root, 'dist/chaos/breaks', `${broken}.js`)] : [],
      ...(signal && { signal }),
    });
    try {
      return await attack(cluster, options);
    } finally {
      await cluster.stop();
    }
  });
}

async function attack(cluster: Cluster, options: ChaosOptions): Promise<ChaosResult> {
  const { seed, say } = options;
  const random = createRandom(seed);
  const plan = planFaults({ ...options, random: random.fork('faults'), ...mixOf(options) });
  const attempts: Attempt[] = [];
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])]);
  const memory = startSampling(cluster);
  const progress = setInterval(() => {
    say(`${attempts.length} requests so far`);
  }, PROGRESS);
  try {
    const record = (attempt: Attempt) => void attempts.push(attempt);
    const crowd = { random, callers: options.callers, keys: KEYS, pause: 0, record, signal };
    const callers = runCrowd(cluster, crowd);
    await sleep(WARM_UP, undefined, { signal });
    const clock = () => performance.now();
    const faults = await runFaults(plan, cluster, { clock, signal });
    const faultsEndedAt = performance.now();
    say(`${faults.length} faults are over, ${attempts.length} requests answered; now calm`);
    await sleep(calmOf(options), undefined, { signal });
    stop.abort();
    await callers;
    say('Callers are done; waiting until everything is settled');
    const leftovers = await settle(cluster);
    const pushTimeout = cluster.config.PUSH_TIMEOUT;
    const history = { pushTimeout, attempts, faults };
    const evidence = await collectEvidence(cluster, { history, faultsEndedAt, leftovers });
    return {
      history,
      violations: check(evidence),
      recoveredAfter: lastTrouble(attempts, faultsEndedAt),
      crashes: [...cluster.crashes],
      memory: await memory.stop(),
    };
  } finally {
    clearInterval(progress);
    stop.abort();
    await memory.stop();
  }
}

/** Long enough to see it recover, or not. */
function calmOf({ broken }: ChaosOptions): number {
  const breakable: Breakable | undefined = broken && MECHANISMS[broken];
  return breakable && !breakable.showsInCalm ? SHORT_CALM : CALM;
}

function mixOf({ mix, broken }: ChaosOptions): { mix?: FaultMix } {
  if (mix) return { mix };
  if (!broken) return {};
  const { faults, pace } = MECHANISMS[broken];
  return { mix: { kinds: faults, pace } };
}

/** Refusals that a retry mends, and broken connections: as long as they come, it has not recovered. */
function lastTrouble(attempts: readonly Attempt[], since: number): number {
  const troubled = attempts.filter(
    ({ end, endedAt }) => endedAt > since && (end.kind !== 'answered' || end.code >= 500),
  );
  return troubled.reduce((last, { endedAt }) => Math.max(last, endedAt - since), 0);
}
