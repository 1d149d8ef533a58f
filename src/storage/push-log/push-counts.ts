/**
 * Counts pushes as they end, in memory, and adds what came together to the database every few seconds:
 * no push costs a command for it. A process that is killed loses what it has not written yet.
 */
import type { Connection, mongo } from 'mongoose';
import { type PollLoop, startPollLoop } from '../../concurrency/poll-loop';
import { durationClass } from '../../runtime/durations';
import type { Logger } from '../../runtime/logger';
import { errorsOfDocuments } from '../driver-errors';
import { nativeCollection } from '../mongo';
import { countModel, type PushCount } from './count-model';

/** One push, as its caller was answered. */
export interface EndedPush {
  readonly clientId: string;
  readonly systemCode: string;
  readonly operation: string;
  /** An outcome, REPLAYED, or a reason. */
  readonly result: string;
  /** Epoch milliseconds: it counts for the minute of its receipt. */
  readonly receivedAt: number;
}

export interface PushCounts {
  /**
   * @param ms milliseconds from receipt to answer
   * @param pushes that ended alike: those of a batch
   */
  ended(push: EndedPush, ms: number, pushes?: number): void;
  /** It has no entry in the push log; counted besides. */
  unrecorded(push: EndedPush, pushes?: number): void;
  /** Writes what is counted, where the database takes it, and ends. */
  stop(): Promise<void>;
}

export interface PushCountsOptions {
  readonly logger: Logger;
  /** Where the hour of a moment begins, epoch milliseconds, in the time zone of the portal. */
  readonly hourOf: (at: number) => number;
  /** Milliseconds between two writes, lengthened by up to half at random. */
  readonly interval?: number;
}

interface Pending extends EndedPush {
  readonly minute: number;
  pushes: number;
  unrecorded: number;
  readonly times: Map<number, number>;
}

const INTERVAL = 3_000;
const MINUTE = 60_000;
/** Minutes of a client, operation and result that wait for the database; further ones are not counted. */
const MOST = 20_000;
const AT_ONCE = 500;

export function createPushCounts(connection: Connection, options: PushCountsOptions): PushCounts {
  return new PushCounter(connection, options);
}

class PushCounter implements PushCounts {
  private readonly collection: mongo.Collection<PushCount>;
  private pending = new Map<string, Pending>();
  /** Pushes that were not counted. */
  private lost = 0;
  private readonly writing: PollLoop;

  constructor(
    connection: Connection,
    private readonly options: PushCountsOptions,
  ) {
    this.collection = nativeCollection<PushCount>(countModel(connection));
    const { interval = INTERVAL } = options;
    this.writing = startPollLoop(
      () => this.write(),
      interval,
      (error) => this.noteFailure(error),
    );
  }

  ended(push: EndedPush, ms: number, pushes = 1): void {
    const count = this.pendingOf(push);
    if (!count) return;
    count.pushes += pushes;
    const at = durationClass(ms);
    count.times.set(at, (count.times.get(at) ?? 0) + pushes);
  }

  unrecorded(push: EndedPush, pushes = 1): void {
    const count = this.pendingOf(push);
    if (count) count.unrecorded += pushes;
  }

  async stop(): Promise<void> {
    await this.writing.stop();
    await this.write().catch((error) => this.noteFailure(error));
  }

  private pendingOf(push: EndedPush): Pending | undefined {
    const minute = Math.floor(push.receivedAt / MINUTE);
    const key = `${minute} ${push.clientId} ${push.operation} ${push.result}`;
    const known = this.pending.get(key);
    if (known) return known;
    if (this.pending.size >= MOST) {
      this.lost += 1;
      return undefined;
    }
    const begun = { ...push, minute, pushes: 0, unrecorded: 0, times: new Map() };
    this.pending.set(key, begun);
    return begun;
  }

  private async write(): Promise<void> {
    const { logger, hourOf } = this.options;
    const counts = [...this.pending.values()];
    this.pending = new Map();
    const { lost } = this;
    if (lost > 0) logger.warn({ lost }, 'pushes not counted: the database took no counts');
    this.lost = 0;
    for (let at = 0; at < counts.length; at += AT_ONCE) {
      const some = counts.slice(at, at + AT_ONCE);
      const writes = some.map((count) => toWrite(count, hourOf));
      try {
        await this.collection.bulkWrite(writes, { ordered: false });
      } catch (error) {
        // The driver has tried twice. What the server wrote before it failed is not written again.
        this.putBack([...failedOf(error, some), ...counts.slice(at + AT_ONCE)]);
        throw error;
      }
    }
  }

  private putBack(counts: readonly Pending[]): void {
    for (const count of counts) {
      const sum = this.pendingOf(count);
      if (!sum) continue;
      sum.pushes += count.pushes;
      sum.unrecorded += count.unrecorded;
      for (const [at, n] of count.times) sum.times.set(at, (sum.times.get(at) ?? 0) + n);
    }
  }

  private noteFailure(error: unknown): void {
    this.options.logger.debug({ error: String(error) }, 'counts not written, tried again soon');
  }
}

function failedOf(error: unknown, counts: readonly Pending[]): readonly Pending[] {
  const failed = [...errorsOfDocuments(error).keys()];
  return failed.length === 0 ? counts : failed.flatMap((index) => counts[index] ?? []);
}

function toWrite(
  { minute, pushes, unrecorded, times, clientId, systemCode, operation, result }: Pending,
  hourOf: (at: number) => number,
): mongo.AnyBulkWriteOperation<PushCount> {
  const hour = hourOf(minute * MINUTE);
  const within = `minutes.${Math.floor((minute * MINUTE - hour) / MINUTE)}.`;
  const counts: [string, number][] = [
    ['pushes', pushes],
    ['unrecorded', unrecorded],
    ...[...times].map(([at, n]): [string, number] => [`times.${at}`, n]),
  ];
  const given = counts.filter(([, n]) => n > 0);
  const $inc = Object.fromEntries(
    given.flatMap(([name, n]) => [
      [name, n],
      [within + name, n],
    ]),
  );
  const $setOnInsert = { systemCode, clientId, operation, result, hour: new Date(hour) };
  const _id = [new Date(hour).toISOString(), clientId, operation, result].join(' ');
  const filter = { _id };
  const update = { $inc, $setOnInsert } as mongo.UpdateFilter<PushCount>;
  return { updateOne: { filter, update, upsert: true } };
}
