/** What a run leaves behind in the queue and in the database. Without callers and faults, nothing may remain. */

import { setTimeout as sleep } from 'node:timers/promises';
import { nativeCollection } from '../../src/infra/mongo';
import { primariesOf } from '../../src/infra/redis/connect';
import { PARTITION_JOB_QUEUE } from '../../src/queue/keys';
import { matterModel, toMatter } from '../../src/storage/ledger';
import { entryModel, type LogEntry } from '../../src/storage/push-log';
import type { Cluster } from '../harness/cluster';
import { USERNAMES } from '../harness/directory';
import type { Evidence } from './check/evidence';

/** Milliseconds after the last push in which the queue must become empty. */
const QUEUE_TIMEOUT = 10_000;
/** Milliseconds after its deadline: a worker expires a push of a dead web process about a minute later. */
const EXPIRY = 75_000;
const LOOK_EVERY = 200;

interface SettleOptions {
  /** Whether to wait for the push log too, which may take more than a minute. */
  readonly entries: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Waits until the queue is empty, and then until every entry of the push log is settled. Each wait has a time limit.
 *
 * @returns the names of the keys that the queue still has
 * @throws the reason of the signal once it is aborted
 */
export async function settleLeftovers(
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

/** @returns milliseconds: the longer timeout of single pushes and batches */
export const longestTimeout = ({ PUSH_TIMEOUT, BATCH_TIMEOUT }: Cluster['config']): number =>
  Math.max(PUSH_TIMEOUT, BATCH_TIMEOUT);

/** @returns the last result of `look` */
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
 * Keys that an idle service keeps: settings, counter, events and markers of BullMQ; leases of worker numbers;
 * heartbeats; layout and database of the namespace. Keys of signatures, rates, rejections and readiness expire.
 */
const STAYS = new RegExp(
  `^:(${PARTITION_JOB_QUEUE}:(meta|id|events|stalled-check|marker)|probe|processes|process-heartbeats|layout|database|(workers|worker-reach|sweep|known-owners):\\d+|(worker|first-uses|rate|rejections):.*)$`,
);

/** @returns the names of all other keys in Redis: partitions, owners, partition jobs, locks, unknown keys */
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
 * @param seen what the harness has recorded
 */
export async function collectEvidence(
  { db, config }: Cluster,
  seen: Pick<Evidence, 'history' | 'faultsEndedAt' | 'leftovers'>,
): Promise<Evidence> {
  // The check folds the operations itself, so it does not need the recorded changes.
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
