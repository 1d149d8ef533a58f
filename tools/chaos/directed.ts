/**
 * A directed run: a few pushes and the fault that needs a certain mechanism, and the check of both. Without the
 * mechanism the check must report a violation, with it none. The seed and the speed of the machine play no part.
 */
import { join } from 'node:path';
import { type Cluster, withCluster } from '../harness/cluster';
import { check } from './check/check';
import type { Violation } from './check/evidence';
import { DirectedActions } from './directed-actions';
import { PLANS } from './directed-plans';
import type { ChaosHistory } from './history';
import { collectEvidence, settleLeftovers } from './leftovers';
import { breakableOf, isEvidence, type Mechanism } from './mechanisms';
import { type PointServer, startPointServer } from './point-server';
import { watchRun } from './watches';

export interface DirectedOptions {
  /** The project's folder; dist/ must be built. */
  readonly root: string;
  /** The mechanism whose fault happens. */
  readonly mechanism: Mechanism;
  /** Whether the processes keep the mechanism. */
  readonly isIntact?: boolean;
  readonly say: (text: string) => void;
  readonly signal?: AbortSignal;
}

export interface DirectedResult {
  readonly history: ChaosHistory;
  readonly violations: readonly Violation[];
  readonly crashes: readonly string[];
}

/** Deadlines that no machine misses. Callers that wait in vain leave earlier. */
const TIMEOUTS = { PUSH_TIMEOUT: '30s', BATCH_TIMEOUT: '30s' };

/** @throws Error if a step of the plan does not happen within a minute */
export async function runDirected(options: DirectedOptions): Promise<DirectedResult> {
  const { root, mechanism, isIntact = false, say, signal } = options;
  const { failOver = false, env } = breakableOf(mechanism);
  const points = await startPointServer();
  const preloaded = [...(isIntact ? [] : ['breaks']), 'points'];
  const cluster = {
    ...{ root, say, signal, failOver, webs: 1, workers: 2 },
    env: { ...TIMEOUTS, ...env, CHAOS_BREAK: mechanism, CHAOS_POINTS: points.url },
    preload: preloaded.map((name) => join(root, `dist/tools/chaos/${name}.js`)),
  };
  try {
    return await withCluster(cluster, (started) => attack(started, points, options));
  } finally {
    points.close();
  }
}

async function attack(
  cluster: Cluster,
  points: PointServer,
  { mechanism, isIntact = false, signal }: DirectedOptions,
): Promise<DirectedResult> {
  const actions = new DirectedActions(cluster, points);
  const watch = watchRun(cluster);
  const leave = () => void actions.leave();
  signal?.addEventListener('abort', leave);
  try {
    await PLANS[mechanism](actions);
    const faultsEndedAt = performance.now();
    const watched = await watch.stop();
    // Only leftovers take time to become evidence.
    const isSettling = isIntact || breakableOf(mechanism).reportedAs.includes('leftover');
    const leftovers = isSettling ? await settleLeftovers(cluster, { entries: false, signal }) : [];
    await actions.leave();
    const { attempts, batches, faults } = actions;
    const { PUSH_TIMEOUT: pushTimeout, BATCH_TIMEOUT: batchTimeout } = cluster.config;
    const history: ChaosHistory = {
      ...{ pushTimeout, batchTimeout, attempts, batches, faults },
      ...watched,
      clockShifts: new Map(),
    };
    const evidence = await collectEvidence(cluster, { history, faultsEndedAt, leftovers });
    // The run does not wait until the entries of lost pushes are settled.
    const violations = check(evidence).filter(({ rule }) => rule !== 'settled');
    return { history, violations, crashes: [...cluster.crashes] };
  } finally {
    signal?.removeEventListener('abort', leave);
    points.close();
    await actions.leave();
    await watch.stop();
    // A drain would wait for pushes whose callers have left.
    for (const app of [...cluster.webs, ...cluster.workers]) app.kill('SIGKILL');
  }
}

/** Whether the check has found that the mechanism is gone. */
export const isDetected = (mechanism: Mechanism, { violations }: DirectedResult): boolean =>
  violations.some((violation) => isEvidence(mechanism, violation));
