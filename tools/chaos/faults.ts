/** Carries out the faults of a plan, and records the time of each. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../harness/cluster';
import type { Member } from '../harness/member';
import type { Way } from '../harness/proxy';
import { eitherSignal, pause } from '../harness/stopping';
import type { Fault } from './history';
import type { PlannedFault } from './plan';
import { fill, flush, lag, orphan, rejectSessions, stepDown } from './server-faults';

interface FaultRun {
  /** Milliseconds of the harness' monotonic clock. */
  clock(): number;
  /** After the abort no fault starts, and the active ones are undone at once. */
  readonly signal?: AbortSignal;
}

/**
 * Resolves when the last fault is undone.
 *
 * @returns the faults as they were carried out, in the order in which they ended
 * @throws Error if a fault cannot be undone, because a server does not restart; the other faults are undone first
 */
export async function runFaults(
  plan: readonly PlannedFault[],
  cluster: Cluster,
  { clock, signal }: FaultRun,
): Promise<Fault[]> {
  const failed = new AbortController();
  const either = eitherSignal(failed.signal, signal);
  const startedAt = clock();
  const done: Fault[] = [];
  const failures: unknown[] = [];
  const lastOf = new Map<string, Promise<void>>();

  const carryOut = async (planned: PlannedFault, before?: Promise<void>): Promise<void> => {
    // A target that recovers slowly must not have two faults at once.
    await before;
    if (either.aborted) return;
    const from = clock();
    await inflict(planned, cluster, () => pause(planned.lasts, either));
    done.push({ kind: planned.kind, target: planned.target, from, to: clock() });
  };
  for (const planned of plan) {
    await pause(startedAt + planned.at - clock(), either);
    if (either.aborted) break;
    const { target } = planned;
    const run = carryOut(planned, lastOf.get(target)).catch((error) => {
      failures.push(error);
      failed.abort();
    });
    lastOf.set(target, run);
  }
  await Promise.all(lastOf.values());
  if (failures.length > 0) throw failures[0];
  return done;
}

/** Resolves when the fault is undone. */
async function inflict(
  { kind, target, amount = 0 }: PlannedFault,
  cluster: Cluster,
  lasting: () => Promise<void>,
): Promise<void> {
  const [what, place, ofProcess] = kind.split('-');
  if (ofProcess) return inflictOnWay(what, wayOf(cluster, place, target), { amount, lasting });
  if (what === 'outrun') return outrun(cluster, target, { amount, lasting });
  switch (place) {
    case 'redis':
      return inflictOnRedis(what, cluster, { amount, lasting });
    case 'group':
      return inflictOnGroup(what, cluster, { amount, lasting });
    case 'mongo':
      if (what === 'restart') return inflictOnProcess('kill', cluster.mongo, lasting);
      return inflictOnWay(what, cluster.mongo.proxy, { amount, lasting });
    case 'primary':
      if (what === 'stepdown') return stepDown(cluster.mongo);
      if (what === 'orphan') return orphan(cluster.mongo, lasting);
      return inflictOnProcess(what, await cluster.mongo.primary(), lasting);
    case 'secondary':
      if (what === 'lag') return lag(cluster.mongo, lasting);
      return inflictOnProcess(what, await cluster.mongo.secondary(), lasting);
    case 'sessions':
      return rejectSessions(cluster.mongo, lasting);
    default:
      return inflictOnProcess(what, appOf(cluster, target), lasting);
  }
}

const wayOf = ({ mongo, redis }: Cluster, server: string | undefined, process: string): Way =>
  (server === 'mongo' ? mongo : redis).wayOf(process);

/**
 * Empties Redis while the queries of a worker to the database are delayed. So the worker loads the matters of its batch
 * after other workers, which do not know this batch, have written.
 */
async function outrun(
  { mongo, lookup }: Cluster,
  target: string,
  { amount, lasting }: Doing,
): Promise<void> {
  const way = mongo.wayOf(target);
  way.setDelay(amount);
  // Meanwhile the worker reads batches. None of their loads has reached the database.
  await sleep(amount / 2);
  await flush(lookup);
  await lasting();
  way.setDelay(0);
}

function appOf({ webs, workers }: Cluster, target: string): Member {
  const app = [...webs, ...workers].find(({ name }) => name === target);
  if (!app) throw new Error(`the cluster has no ${target}`);
  return app;
}

interface Doing {
  /** As planned. */
  readonly amount: number;
  readonly lasting: () => Promise<void>;
}

async function inflictOnRedis(
  what: string | undefined,
  { redis, lookup }: Cluster,
  { amount, lasting }: Doing,
): Promise<void> {
  switch (what) {
    case 'flush':
      return flush(lookup);
    case 'restart':
      return inflictOnProcess('kill', redis, lasting);
    case 'fill':
      return fill(lookup, amount, lasting);
    case 'failover':
      return redis.failOver(lasting);
    case 'switch':
      await redis.failOver(lasting);
      return redis.proxy.reset();
    default:
      return inflictOnWay(what, redis.proxy, { amount, lasting });
  }
}

/** Resolves when all servers of the group run, and another failover is possible. */
async function inflictOnGroup(
  what: string | undefined,
  { redis: { group }, keys }: Cluster,
  { amount, lasting }: Doing,
): Promise<void> {
  if (!group) throw new Error('Redis is one address, no group');
  const place = keys.bullPrefix(amount % keys.shards);
  if (what === 'switch') await group.switchOver(place);
  else await inflictOnProcess(what, await group.primary(place), lasting);
  await group.whole();
}

async function inflictOnProcess(
  what: string | undefined,
  member: Member,
  lasting: () => Promise<void>,
): Promise<void> {
  if (what === 'stop') {
    member.kill('SIGSTOP');
    await lasting();
    return member.kill('SIGCONT');
  }
  member.kill(what === 'restart' || what === 'leave' ? 'SIGTERM' : 'SIGKILL');
  await lasting();
  await member.restart();
}

async function inflictOnWay(
  what: string | undefined,
  proxy: Way,
  { amount, lasting }: Doing,
): Promise<void> {
  if (what === 'reset') return proxy.reset();
  if (what === 'cut') return proxy.cutMidCommand();
  if (what === 'strand') {
    proxy.strand();
    return lasting();
  }
  if (what === 'refuse') {
    await proxy.setRefusing(true);
    await lasting();
    return proxy.setRefusing(false);
  }
  const change = (on: boolean) =>
    what === 'drop' ? proxy.setDropping(on) : proxy.setDelay(on ? amount : 0);
  change(true);
  await lasting();
  change(false);
}
