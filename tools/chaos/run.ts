/** One chaos run: callers at work, faults from a plan, a calm end, and the check of all of it. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, withCluster } from '../harness/cluster';
import { type Sampling, startSampling } from '../harness/memory';
import { createRandom } from '../harness/random';
import type { RedisForm } from '../harness/redis-group';
import { eitherSignal } from '../harness/stopping';
import { runCrowd } from './callers';
import { check } from './check/check';
import type { Violation } from './check/evidence';
import { checkSoundness } from './check/soundness';
import { runFaults } from './faults';
import { type Attempt, type BatchTry, FAULT_KINDS, type History, needsFailOver } from './history';
import { collectEvidence, longestTimeout, settle } from './leftovers';
import { type Breakable, MECHANISMS, type Mechanism } from './mechanisms';
import { type FaultMix, planClocks, planFaults } from './plan';
import type { Recorder } from './tries';
import { watchRun } from './watches';

export interface ChaosOptions {
  /** The project's folder; dist/ must be built. */
  readonly root: string;
  readonly seed: string;
  /** Milliseconds in which faults happen. */
  readonly duration: number;
  readonly callers: number;
  /** Milliseconds between two pushes of a caller; none, where absent. */
  readonly pause?: number;
  readonly webs: number;
  readonly workers: number;
  /** All kinds at their usual pace, where absent. */
  readonly mix?: FaultMix;
  /** Milliseconds by which the clocks of processes may be wrong, either way; absent: they are right. */
  readonly skew?: number;
  /** Of all pushes, how many go in batches: 0 to 1; half of them, where absent. */
  readonly batches?: number;
  /** One address, where absent. */
  readonly redisForm?: RedisForm;
  /** Whether the database rejects killSessions during all of it. */
  readonly rejectsKillSessions?: boolean;
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
/** Another one, so that it shows where one stands for the other. */
const BATCH_TIMEOUT = '8s';
const IN_BATCHES = 0.5;
/** Milliseconds without faults before the plan starts, and after it ends. */
const WARM_UP = 2_000;
const SHORT_CALM = 500;
/** Milliseconds until nothing may fail any more, and then of service; a push may last between them. */
const RECOVERY = 10_000;
const SERVED = 3_000;
const PROGRESS = 10_000;
const KEYS = { hotKeys: 6, coldKeys: 4_000 };

/** @throws Error where something of the harness itself fails: a server that does not come back */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { root, broken, webs, workers, say, signal } = options;
  const breakable: Breakable | undefined = broken && MECHANISMS[broken];
  const { kinds = FAULT_KINDS } = mixOf(options).mix ?? {};
  const clocks = createRandom(options.seed).fork('clocks');
  const clockShifts = planClocks(clocks, options, options.skew ?? 0);
  const some = {
    ...{ root, webs, workers, say },
    failOver: kinds.some(needsFailOver),
    redisForm: options.redisForm ?? 'single',
    rejectsKillSessions: options.rejectsKillSessions === true,
    clockShifts,
    env: {
      PUSH_TIMEOUT: USUAL_TIMEOUT,
      BATCH_TIMEOUT,
      ...breakable?.env,
      ...(broken && { CHAOS_BREAK: broken }),
    },
    preload: broken ? [join(root, 'dist/tools/chaos/breaks.js')] : [],
    signal,
  };
  return withCluster(some, async (cluster, keepLogs) => {
    const result = await attack(cluster, options, clockShifts);
    // What is broken on purpose is to be found.
    if (!broken && result.violations.length + result.crashes.length > 0) keepLogs();
    return result;
  });
}

async function attack(
  cluster: Cluster,
  options: ChaosOptions,
  clockShifts: History['clockShifts'],
): Promise<ChaosResult> {
  const { say, broken, signal } = options;
  const memory = startSampling(cluster);
  try {
    const { faultsEndedAt, ...seen } = await drive(cluster, options);
    say('Callers are done; waiting until everything is settled');
    const leftovers = await settle(cluster, { entries: !broken, signal });
    const { PUSH_TIMEOUT: pushTimeout, BATCH_TIMEOUT: batchTimeout } = cluster.config;
    const history: History = { pushTimeout, batchTimeout, clockShifts, ...seen };
    const evidence = await collectEvidence(cluster, { history, faultsEndedAt, leftovers });
    const violations = [...check(evidence), ...checkSoundness(evidence)];
    return {
      history,
      // Where nobody waited for the entries, one that is still open says nothing.
      violations: violations.filter(({ rule }) => !broken || rule !== 'settled'),
      recoveredAfter: lastTrouble(seen.attempts, faultsEndedAt),
      crashes: [...cluster.crashes],
      memory: await memory.stop(),
    };
  } finally {
    await memory.stop();
  }
}

interface Driven extends Omit<History, 'pushTimeout' | 'batchTimeout' | 'clockShifts'> {
  readonly faultsEndedAt: number;
}

/** Callers at work, the faults, and the calm after them. Resolves when the last try is answered. */
async function drive(cluster: Cluster, options: ChaosOptions): Promise<Driven> {
  const { seed, say } = options;
  const random = createRandom(seed);
  const plan = planFaults({ ...options, random: random.fork('faults'), ...mixOf(options) });
  const attempts: Attempt[] = [];
  const batches: BatchTry[] = [];
  const stop = new AbortController();
  const signal = eitherSignal(stop.signal, options.signal);
  const watch = watchRun(cluster);
  const progress = setInterval(() => {
    say(`${attempts.length} pushes so far`);
  }, PROGRESS);
  try {
    const record: Recorder = {
      attempt: (attempt) => void attempts.push(attempt),
      batch: (batch) => void batches.push(batch),
    };
    const { callers: count, pause = 0, batches: share = IN_BATCHES } = options;
    const some = { random, callers: count, keys: KEYS, batches: share };
    const crowd = { ...some, pause, record, signal };
    const callers = runCrowd(cluster, crowd);
    await sleep(WARM_UP, undefined, { signal });
    const clock = () => performance.now();
    const faults = await runFaults(plan, cluster, { clock, signal });
    const faultsEndedAt = performance.now();
    say(`${faults.length} faults are over, ${attempts.length} pushes answered; now calm`);
    await sleep(calmOf(options, longestTimeout(cluster.config)), undefined, { signal });
    stop.abort();
    await callers;
    options.signal?.throwIfAborted();
    return { attempts, batches, faults, faultsEndedAt, ...(await watch.stop()) };
  } finally {
    clearInterval(progress);
    stop.abort();
    await watch.stop();
  }
}

/** Long enough to see it recover, or not. */
function calmOf({ broken }: ChaosOptions, timeout: number): number {
  const breakable: Breakable | undefined = broken && MECHANISMS[broken];
  const isLong = !breakable || breakable.showsInCalm;
  return isLong ? RECOVERY + timeout + SERVED : SHORT_CALM;
}

function mixOf({ mix, broken }: ChaosOptions): { mix?: FaultMix } {
  if (mix) return { mix };
  if (!broken) return {};
  const { faults, pace } = MECHANISMS[broken];
  return { mix: { kinds: faults, pace } };
}

/** Rejections that a retry mends, and broken connections: as long as they come, it has not recovered. */
function lastTrouble(attempts: readonly Attempt[], since: number): number {
  const troubled = attempts.filter(
    ({ end, endedAt }) =>
      endedAt > since && end.kind !== 'left' && (end.kind !== 'answered' || end.code >= 500),
  );
  return troubled.reduce((last, { endedAt }) => Math.max(last, endedAt - since), 0);
}
