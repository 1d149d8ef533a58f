/**
 * What a run left behind, in the queue and in the database: once nobody pushes and nothing is broken,
 * nothing may wait anywhere.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { PARTITION_JOB_QUEUE } from '../../src/queue/keys';
import { primariesOf } from '../../src/queue/redis';
import { matterModel } from '../../src/storage/ledger/matter-model';
import { toMatter } from '../../src/storage/ledger/matter-record';
import { nativeCollection } from '../../src/storage/mongo';
import { entryModel, type LogEntry } from '../../src/storage/push-log/entry-model';
import type { Cluster } from '../harness/cluster';
import { USERNAMES } from '../harness/directory';
import type { Evidence } from './check/evidence';

/** Milliseconds in which the queue must be empty once nobody pushes. */
const QUEUE_TIMEOUT = 10_000;
/** Beyond its deadline: a push whose web process died is ended by a worker a minute later, or soon after. */
const EXPIRY = 75_000;
const LOOK_EVERY = 200;

interface SettleOptions {
  /** Whether the push log is waited for too: that may take more than a minute. */
  readonly entries: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Waits until the queue is empty, and then until every entry of the push log is settled; no longer
 * than either may take.
 *
 * @returns what the queue still holds
 * @throws the reason of the signal once it is aborted
 */
export async function settle(
  cluster: Cluster,
  { entries, signal }: SettleOptions,
): Promise<string[]> {
  const left = await waitWhile(
    () => findLeftovers(cluster),
    (names) => names.length > 0,
    { timeout: QUEUE_TIMEOUT, signal },
  );
  if (left.length > 0 || !entries) return left;
  await waitWhile(
    () => entryModel(cluster.db).countDocuments({ state: 'QUEUED' }),
    (queued) => queued > 0,
    { timeout: longestTimeout(cluster.config) + EXPIRY, signal },
  );
  return left;
}

/** @returns milliseconds: of a push that comes alone, or in a batch */
export const longestTimeout = ({ PUSH_TIMEOUT, BATCH_TIMEOUT }: Cluster['config']): number =>
  Math.max(PUSH_TIMEOUT, BATCH_TIMEOUT);

/** @returns what was there at the last look */
async function waitWhile<T>(
  look: () => Promise<T>,
  isThere: (found: T) => boolean,
  { timeout, signal }: { timeout: number; signal: AbortSignal | undefined },
): Promise<T> {
  const end = performance.now() + timeout;
  for (;;) {
    const found = await look();
    if (!isThere(found) || performance.now() > end) return found;
    await sleep(LOOK_EVERY, undefined, { signal });
  }
}

/**
 * What an idle service keeps: BullMQ's settings, counter, events, the mark of its last look for
 * stalled jobs and the one that wakes an idle worker; the leases of the worker numbers; the heartbeats of
 * the processes and workers, how the partitions are numbered, and the database of the namespace; the memories of signatures, rates and rejections, and what readiness writes, which end by themselves.
 */
const STAYS = new RegExp(
  `^:(${PARTITION_JOB_QUEUE}:(meta|id|events|stalled-check|marker)|probe|processes|process-heartbeats|shards|database|(workers|worker-heartbeats|worker-reach|sweep|partitioning|known-owners):\\d+|(worker|first-uses|rate|rejections):.*)$`,
);

/**
 * @returns the names of all other keys in Redis: partitions, owners, partition jobs, locks, or what is
 * new
 */
export async function findLeftovers({
  lookup,
  keys,
}: Pick<Cluster, 'lookup' | 'keys'>): Promise<string[]> {
  const prefix = keys.probe.replace(/\}:.*$/, '');
  const patterns = [`${prefix}}:*`, `${prefix}:*}:*`];
  const all = primariesOf(lookup).flatMap((one) => patterns.map((pattern) => one.keys(pattern)));
  const found = (await Promise.all(all)).flat();
  return found.filter((name) => !STAYS.test(name.replace(/^[^}]*\}/, ''))).sort();
}

/**
 * Reads the whole ledger and the whole push log.
 *
 * @param seen what the harness knows by itself
 */
export async function collectEvidence(
  { db, config }: Cluster,
  seen: Pick<Evidence, 'history' | 'faultsEndedAt' | 'leftovers'>,
): Promise<Evidence> {
  // What a push changed is for people; the check folds by itself.
  const log = nativeCollection<LogEntry>(entryModel(db));
  const entries = await log.find({}).project<LogEntry>({ changes: 0, problems: 0 }).toArray();
  const records = await nativeCollection(matterModel(db)).find({}).toArray();
  return {
    ...seen,
    entries,
    matters: records.map(toMatter),
    names: new Map(USERNAMES.map((username) => [username, username.toUpperCase()])),
    concluded: new Set(config.CONCLUDED_STATUSES),
    timeZone: config.PORTAL_TIME_ZONE,
  };
}
