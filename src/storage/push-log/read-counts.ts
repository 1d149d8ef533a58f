/** Defines and reads the documents that count pushes. `counts.ts` writes these documents. */
import { type Connection, type Model, type mongo, Schema } from 'mongoose';
import type { Durations } from '../../infra/durations';
import { nativeCollection } from '../../infra/mongo';

export interface CountValues {
  pushes?: number;
  /** Pushes without an entry in the push log. */
  unrecorded?: number;
  /** Number of pushes in each bucket of durations (`infra/durations.ts`). */
  times?: Durations;
}

/** The counts of one client, operation and result in one hour. */
export interface PushCountRecord extends CountValues {
  /** Hour, client, operation and result, separated by blanks. */
  _id: string;
  systemCode: string;
  clientId: string;
  operation: string;
  /** Same values as `CountedPush.result`. */
  result: string;
  /** Start of the hour in the time zone of the portal. */
  hour: Date;
  /** Time of receipt of the last push. */
  latest: Date;
  /** Counts by minute, 0 to 59. */
  minutes?: Readonly<Record<string, CountValues>>;
}

const countSchema = new Schema<PushCountRecord>(
  {
    _id: { type: String, required: true },
    systemCode: { type: String, required: true },
    clientId: { type: String, required: true },
    operation: { type: String, required: true },
    result: { type: String, required: true },
    hour: { type: Date, required: true },
    latest: Date,
    pushes: Number,
    unrecorded: Number,
    times: { type: Schema.Types.Mixed, default: undefined },
    minutes: { type: Schema.Types.Mixed, default: undefined },
  },
  { collection: 'push_counts', versionKey: false },
);

countSchema.index({ systemCode: 1, hour: -1 }, { name: 'system_hours' });
countSchema.index(
  { systemCode: 1, hour: -1, unrecorded: 1 },
  { name: 'unrecorded', partialFilterExpression: { unrecorded: { $gt: 0 } } },
);

export function countModel(connection: Connection): Model<PushCountRecord> {
  return connection.models.PushCount ?? connection.model<PushCountRecord>('PushCount', countSchema);
}

export interface CountQuery {
  readonly systemCode?: string;
  /** Start of the window, inclusive; epoch milliseconds. */
  readonly from: number;
  /** End of the window, exclusive; epoch milliseconds. */
  readonly to: number;
  readonly operation?: string | undefined;
  /** Outcomes and reasons. */
  readonly results?: readonly string[] | undefined;
}

export interface PeriodCount extends CountValues {
  /** Start of the minute or hour, epoch milliseconds. */
  readonly start: number;
  readonly clientId: string;
  /** Time of receipt of the last push in the hour, epoch milliseconds. */
  readonly latest: number;
  readonly operation: string;
  readonly result: string;
}

export interface PeriodCounts {
  /** Newest hour first. */
  readonly counts: readonly PeriodCount[];
  /**
   * Start of the oldest complete hour, epoch milliseconds. Older hours are omitted. Undefined if no hour is omitted.
   */
  readonly cutAt: number | undefined;
}

export interface PushCountReader {
  read(query: CountQuery, by: 'minute' | 'hour'): Promise<PeriodCounts>;
  unrecorded(query: CountQuery): Promise<number>;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const MAX_DOCUMENTS = 50_000;
const MAX_DOCUMENTS_WITH_MINUTES = 5_000;
const TIMEOUT = 10_000;

export function createPushCountReader(
  connection: Connection,
  maxDocuments = MAX_DOCUMENTS,
): PushCountReader {
  const collection = nativeCollection<PushCountRecord>(countModel(connection));
  return {
    read: async (query, by) => {
      const isByMinute = by === 'minute';
      const max = Math.min(maxDocuments, isByMinute ? MAX_DOCUMENTS_WITH_MINUTES : MAX_DOCUMENTS);
      const documents = await collection
        .find(filterOf(query), { maxTimeMS: TIMEOUT })
        .project<PushCountRecord>(
          isByMinute ? { pushes: 0, unrecorded: 0, times: 0 } : { minutes: 0 },
        )
        .sort({ hour: -1 })
        .limit(max + 1)
        .toArray();
      // The oldest hour may be incomplete because of the limit, so the result omits this hour.
      const cut = documents.length > max ? documents[max]?.hour.getTime() : undefined;
      const whole = documents.filter(({ hour }) => cut === undefined || hour.getTime() > cut);
      const counts = whole.flatMap((document) =>
        isByMinute ? toMinuteCounts(document, query) : [toHourCount(document)],
      );
      return { counts, cutAt: cut === undefined ? undefined : cut + HOUR };
    },
    unrecorded: async (query) => {
      const documents = await collection
        .find({ ...filterOf(query), unrecorded: { $gt: 0 } }, { maxTimeMS: TIMEOUT })
        .hint('unrecorded')
        .project<PushCountRecord>({ pushes: 0, times: 0 })
        .limit(maxDocuments)
        .toArray();
      const minutes = documents.flatMap((document) => toMinuteCounts(document, query));
      return minutes.reduce((sum, { unrecorded = 0 }) => sum + unrecorded, 0);
    },
  };
}

/** Selects every hour that overlaps the window. */
function filterOf({ systemCode, from, to, operation, results }: CountQuery) {
  const filter: mongo.Filter<PushCountRecord> = {
    ...(systemCode !== undefined && { systemCode }),
    hour: { $gt: new Date(Math.max(from - HOUR, -1)), $lt: new Date(to) },
    ...(operation !== undefined && { operation }),
    ...(results && { result: { $in: [...results] } }),
  };
  return filter;
}

function toHourCount({ hour, latest, ...count }: PushCountRecord): PeriodCount {
  return { ...count, start: hour.getTime(), latest: latest.getTime() };
}

function toMinuteCounts({ hour, minutes = {}, ...document }: PushCountRecord, query: CountQuery) {
  const { clientId, operation, result } = document;
  const latest = document.latest.getTime();
  return Object.entries(minutes)
    .map(([minute, count]): PeriodCount => {
      const start = hour.getTime() + Number(minute) * MINUTE;
      return { ...count, start, clientId, latest, operation, result };
    })
    .filter(({ start }) => start >= query.from && start < query.to);
}
