/** Counts answered pushes in memory, and adds the counts to the database every few seconds. */

import type { Connection, mongo } from 'mongoose';
import { type PollLoop, startPollLoop } from '../../concurrency/timing';
import { errorsOfDocuments } from '../../infra/driver-errors';
import { durationBucket } from '../../infra/durations';
import type { Logger } from '../../infra/logger';
import { nativeCollection } from '../../infra/mongo';
import { countModel, type PushCountRecord } from './read-counts';

export interface CountedPush {
  readonly clientId: string;
  readonly systemCode: string;
  readonly operation: string;
  /** An outcome, an error reason, or `REPLAYED`. */
  readonly result: string;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
}

export interface PushCounts {
  /** @param ms milliseconds from receipt to answer */
  ended(push: CountedPush, ms: number, pushes?: number): void;
  /** Counts answered pushes without an entry in the push log. The caller must also call `ended` for these pushes. */
  unrecorded(push: CountedPush, pushes?: number): void;
  stop(): Promise<void>;
}

export interface PushCountsOptions {
  readonly logger: Logger;
  /** Start of the local hour that contains `at`, epoch milliseconds. */
  readonly hourOf: (at: number) => number;
  /** Milliseconds between two writes. */
  readonly interval?: number;
}

interface Pending extends CountedPush {
  readonly minute: number;
  /** Time of receipt of the last push, epoch milliseconds. */
  latest: number;
  pushes: number;
  unrecorded: number;
  readonly times: Map<number, number>;
}

const INTERVAL = 3_000;
const MINUTE = 60_000;
/** Maximum counts in memory. */
const MAX_PENDING = 20_000;
const COUNTS_PER_COMMAND = 500;

export function createPushCounts(connection: Connection, options: PushCountsOptions): PushCounts {
  return new PushCounter(connection, options);
}

class PushCounter implements PushCounts {
  private readonly collection: mongo.Collection<PushCountRecord>;
  private pending = new Map<string, Pending>();
  private lost = 0;
  private readonly writing: PollLoop;

  constructor(
    connection: Connection,
    private readonly options: PushCountsOptions,
  ) {
    this.collection = nativeCollection<PushCountRecord>(countModel(connection));
    const { interval = INTERVAL } = options;
    this.writing = startPollLoop(
      () => this.write(),
      interval,
      (error) => this.noteFailure(error),
    );
  }

  ended(push: CountedPush, ms: number, pushes = 1): void {
    const count = this.pendingOf(push);
    if (!count) return;
    count.pushes += pushes;
    const at = durationBucket(ms);
    count.times.set(at, (count.times.get(at) ?? 0) + pushes);
  }

  unrecorded(push: CountedPush, pushes = 1): void {
    const count = this.pendingOf(push);
    if (count) count.unrecorded += pushes;
  }

  async stop(): Promise<void> {
    await this.writing.stop();
    await this.write().catch((error) => {
      const { logger } = this.options;
      const counts = this.pending.size;
      logger.warn(
        { counts, error: String(error) },
        'push counts may be lost: the last write failed',
      );
    });
  }

  private pendingOf(push: CountedPush): Pending | undefined {
    const minute = Math.floor(push.receivedAt / MINUTE);
    const key = `${minute} ${push.clientId} ${push.operation} ${push.result}`;
    const known = this.pending.get(key);
    if (known) {
      known.latest = Math.max(known.latest, push.receivedAt);
      return known;
    }
    if (this.pending.size >= MAX_PENDING) {
      this.lost += 1;
      return undefined;
    }
    const latest = push.receivedAt;
    const created = { ...push, minute, latest, pushes: 0, unrecorded: 0, times: new Map() };
    this.pending.set(key, created);
    return created;
  }

  private async write(): Promise<void> {
    const { logger, hourOf } = this.options;
    const counts = [...this.pending.values()];
    this.pending = new Map();
    const { lost } = this;
    if (lost > 0)
      logger.warn({ lost }, 'push counts are lost: too many unwritten counts in memory');
    this.lost = 0;
    for (let at = 0; at < counts.length; at += COUNTS_PER_COMMAND) {
      const part = counts.slice(at, at + COUNTS_PER_COMMAND);
      try {
        const writes = part.map((count) => toCountWrite(count, hourOf));
        await this.collection.bulkWrite(writes, { ordered: false });
      } catch (error) {
        this.putBack([...failedOf(error, part), ...counts.slice(at + COUNTS_PER_COMMAND)]);
        throw error;
      }
    }
  }

  private putBack(counts: readonly Pending[]): void {
    for (const count of counts) {
      const sum = this.pendingOf({ ...count, receivedAt: count.latest });
      if (!sum) continue;
      sum.pushes += count.pushes;
      sum.unrecorded += count.unrecorded;
      for (const [at, n] of count.times) sum.times.set(at, (sum.times.get(at) ?? 0) + n);
    }
  }

  private noteFailure(error: unknown): void {
    this.options.logger.debug(
      { error: String(error) },
      'could not write the push counts, retrying',
    );
  }
}

function failedOf(error: unknown, counts: readonly Pending[]): readonly Pending[] {
  const failed = [...errorsOfDocuments(error).keys()];
  return failed.length === 0 ? counts : failed.flatMap((index) => counts[index] ?? []);
}

function toCountWrite(
  { minute, latest, pushes, unrecorded, times, clientId, systemCode, operation, result }: Pending,
  hourOf: (at: number) => number,
): mongo.AnyBulkWriteOperation<PushCountRecord> {
  const hour = hourOf(minute * MINUTE);
  const minutePath = `minutes.${Math.floor((minute * MINUTE - hour) / MINUTE)}.`;
  const counts: [string, number][] = [
    ['pushes', pushes],
    ['unrecorded', unrecorded],
    ...[...times].map(([at, n]): [string, number] => [`times.${at}`, n]),
  ];
  const nonZero = counts.filter(([, n]) => n > 0);
  const $inc = Object.fromEntries(
    nonZero.flatMap(([name, n]) => [
      [name, n],
      [minutePath + name, n],
    ]),
  );
  const $setOnInsert = { systemCode, clientId, operation, result, hour: new Date(hour) };
  const _id = [new Date(hour).toISOString(), clientId, operation, result].join(' ');
  const filter = { _id };
  const $max = { latest: new Date(latest) };
  const update = { $inc, $max, $setOnInsert } as mongo.UpdateFilter<PushCountRecord>;
  return { updateOne: { filter, update, upsert: true } };
}
