/** One chaos run: callers, faults from a plan, a time without faults, and the check of everything. */

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
import {
  type BatchTry,
  type ChaosHistory,
  FAULT_KINDS,
  isAccepted,
  needsFailOver,
  type PushAttempt,
} from './history';
import { collectEvidence, longestTimeout, settleLeftovers } from './leftovers';
import { type FaultMix, planClocks, planFaults } from './plan';
import type { Recorder } from './tries';
import { watchRun } from './watches';

export interface ChaosOptions {
  /** The project's folder; dist/ must be built. */
  readonly root: string;
  readonly seed: string;
  /** Milliseconds in which faults happen. */
  readonly duration: number;
  /** The callers continue after `duration` until the service has accepted so many pushes; 0 if absent. */
  readonly minAccepted?: number;
  readonly callers: number;
  /** Milliseconds between two pushes of a caller; 0 if absent. */
  readonly pause?: number;
  readonly webs: number;
  readonly workers: number;
  /** All kinds at their usual pace if absent. */
  readonly mix?: FaultMix;
  /** Maximum error of the clocks of processes, in milliseconds; 0 if absent. */
  readonly skew?: number;
  /** Share of the pushes that are sent in batches: 0 to 1; 0.5 if absent. */
  readonly batches?: number;
  /** One address if absent. */
  readonly redisForm?: RedisForm;
  /** Whether the database rejects killSessions during the whole run. */
  readonly rejectsKillSessions?: boolean;
  readonly say: (text: string) => void;
  readonly signal?: AbortSignal;
}

export interface ChaosResult {
  readonly history: ChaosHistory;
  readonly violations: readonly Violation[];
  /** Milliseconds from the end of the last fault to the last answer that required a retry. */
  readonly recoveredAfter: number;
  readonly crashes: readonly string[];
  /** By type of process. */
  readonly memory: Awaited<ReturnType<Sampling['stop']>>;
}

const USUAL_TIMEOUT = '5s';
/** Different from PUSH_TIMEOUT, so that a mix-up of the two shows. */
const BATCH_TIMEOUT = '8s';
const IN_BATCHES = 0.5;
/** Milliseconds before the first fault. */
const WARM_UP = 2_000;
/** Milliseconds after the last fault: until requests must succeed again, and of service after that. */
const RECOVERY = 10_000;
const SERVED = 3_000;
const PROGRESS = 10_000;
/** Milliseconds between two counts of the accepted pushes. */
const COUNT_INTERVAL = 500;
const KEYS = { hotKeys: 6, coldKeys: 4_000 };

/** @throws Error if the harness itself fails, for example because a server does not restart */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { root, webs, workers, say, signal } = options;
  const { kinds = FAULT_KINDS } = options.mix ?? {};
  const clocks = createRandom(options.seed).fork('clocks');
  const clockShifts = planClocks(clocks, options, options.skew ?? 0);
  const clusterOptions = {
    ...{ root, webs, workers, say },
    failOver: kinds.some(needsFailOver),
    redisForm: options.redisForm ?? 'single',
    rejectsKillSessions: options.rejectsKillSessions === true,
    clockShifts,
    env: { PUSH_TIMEOUT: USUAL_TIMEOUT, BATCH_TIMEOUT },
    signal,
  };
  return withCluster(clusterOptions, async (cluster, keepLogs) => {
    const result = await attack(cluster, options, clockShifts);
    if (result.violations.length + result.crashes.length > 0) keepLogs();
    return result;
  });
}

async function attack(
  cluster: Cluster,
  options: ChaosOptions,
  clockShifts: ChaosHistory['clockShifts'],
): Promise<ChaosResult> {
  const { say, signal } = options;
  const memory = startSampling(cluster);
  try {
    const { faultsEndedAt, ...seen } = await drive(cluster, options);
    say('The callers have stopped; waiting until everything is settled');
    const leftovers = await settleLeftovers(cluster, { entries: true, signal });
    const { PUSH_TIMEOUT: pushTimeout, BATCH_TIMEOUT: batchTimeout } = cluster.config;
    const history: ChaosHistory = { pushTimeout, batchTimeout, clockShifts, ...seen };
    const evidence = await collectEvidence(cluster, { history, faultsEndedAt, leftovers });
    return {
      history,
      violations: [...check(evidence), ...checkSoundness(evidence)],
      recoveredAfter: lastTrouble(seen.attempts, faultsEndedAt),
      crashes: [...cluster.crashes],
      memory: await memory.stop(),
    };
  } finally {
    await memory.stop();
  }
}

interface Driven extends Omit<ChaosHistory, 'pushTimeout' | 'batchTimeout' | 'clockShifts'> {
  readonly faultsEndedAt: number;
}

/** Runs the callers, the faults, and the time without faults. Resolves when the last try is answered. */
async function drive(cluster: Cluster, options: ChaosOptions): Promise<Driven> {
  const { seed, say } = options;
  const random = createRandom(seed);
  const plan = planFaults({ ...options, random: random.fork('faults') });
  const attempts: PushAttempt[] = [];
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
    const load = { random, callers: count, keys: KEYS, batches: share, pause };
    const callers = runCrowd(cluster, { ...load, record, signal });
    await sleep(WARM_UP, undefined, { signal });
    const clock = () => performance.now();
    const faults = await runFaults(plan, cluster, { clock, signal });
    const faultsEndedAt = performance.now();
    say(
      `${faults.length} faults have ended, ${attempts.length} pushes are answered; no more faults`,
    );
    const calm = RECOVERY + longestTimeout(cluster.config) + SERVED;
    await sleep(calm, undefined, { signal });
    while (attempts.filter(({ end }) => isAccepted(end)).length < (options.minAccepted ?? 0)) {
      await sleep(COUNT_INTERVAL, undefined, { signal });
    }
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

/** The service has recovered after the last retryable rejection or broken connection. */
function lastTrouble(attempts: readonly PushAttempt[], since: number): number {
  const troubled = attempts.filter(
    ({ end, endedAt }) =>
      endedAt > since && end.kind !== 'left' && (end.kind !== 'answered' || end.code >= 500),
  );
  return troubled.reduce((last, { endedAt }) => Math.max(last, endedAt - since), 0);
}
