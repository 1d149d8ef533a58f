/** Defines and reads the documents that count pushes. `counts.ts` writes these documents. */
import { type Connection, type Model, type mongo, Schema } from 'mongoose';
import type { Durations } from '../../infra/durations';
import { nativeCollection } from '../../infra/mongo';

/** The counts of an hour or of a minute. */
export interface CountValues {
  pushes?: number;
  /** Pushes without an entry in the push log. */
  unrecorded?: number;
  /** Number of pushes by bucket of their duration (`infra/durations.ts`). */
  times?: Durations;
}

/** The document that counts the pushes of one client, operation and result in one hour. */
export interface PushCountRecord extends CountValues {
  /** Hour, client, operation and result, separated by blanks. */
  _id: string;
  systemCode: string;
  clientId: string;
  operation: string;
  /** The outcome of an accepted push, the reason of an error, or `REPLAYED` for a retry with a prior result. */
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
// Queries of the push log show the number of pushes without a log entry. Few documents count such pushes, so the index
// is small.
countSchema.index(
  { systemCode: 1, hour: -1, unrecorded: 1 },
  { name: 'unrecorded', partialFilterExpression: { unrecorded: { $gt: 0 } } },
);

export function countModel(connection: Connection): Model<PushCountRecord> {
  return connection.models.PushCount ?? connection.model<PushCountRecord>('PushCount', countSchema);
}

export interface CountQuery {
  /** Absent: the counts of all systems. */
  readonly systemCode?: string;
  /**
   * Window, epoch milliseconds; `to` is exclusive. A query by minute selects the minutes that begin in the window. A
   * query by hour selects the hours that overlap the window.
   */
  readonly from: number;
  readonly to: number;
  readonly operation?: string | undefined;
  /** Outcomes and reasons; absent: all. */
  readonly results?: readonly string[] | undefined;
}

/** The count of one client, operation and result in a minute or an hour. */
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
  /** The counts, newest hour first. */
  readonly counts: readonly PeriodCount[];
  /**
   * Set if the window had too many documents: start of the oldest hour that was read completely, epoch milliseconds.
   * `counts` has no earlier hours. Undefined if the whole window was read.
   */
  readonly cutAt: number | undefined;
}

export interface PushCountReader {
  read(query: CountQuery, by: 'minute' | 'hour'): Promise<PeriodCounts>;
  /** The number of pushes in the window that have no entry in the push log. */
  unrecorded(query: CountQuery): Promise<number>;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Maximum documents that one call reads. */
const MAX_DOCUMENTS = 50_000;
/** Maximum documents that one `read` by minute reads: few, because documents with the counts of minutes are large. */
const MAX_DOCUMENTS_WITH_MINUTES = 5_000;
/** Milliseconds for one command of the database. */
const TIMEOUT = 10_000;

/** @param maxDocuments maximum documents that one call reads; tests set a lower maximum */
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
      // The limit may have cut off documents of the oldest hour, so the result omits this hour.
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

/** Selects every hour that overlaps the window, because a minute of such an hour can begin in the window. */
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
