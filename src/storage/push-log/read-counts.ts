/** Reads what was counted of pushes (see push-counts.ts). */
import type { Connection, mongo } from 'mongoose';
import { nativeCollection } from '../mongo';
import { type Count, countModel, type PushCount } from './count-model';

export interface CountQuery {
  /** Absent: of all systems. */
  readonly systemCode?: string;
  /** Epoch milliseconds; hours and minutes that begin in this window are counted. */
  readonly from: number;
  readonly to: number;
  readonly operation?: string | undefined;
  /** Any of these outcomes and reasons. */
  readonly results?: readonly string[] | undefined;
}

/** A minute or an hour of one client, operation and result. */
export interface Counted extends Count {
  /** Where it begins, epoch milliseconds. */
  readonly start: number;
  readonly operation: string;
  readonly result: string;
}

export interface CountsRead {
  /** The newest first. */
  readonly counts: readonly Counted[];
  /** Where those begin that were read; undefined: at the beginning of the window. */
  readonly cutAt: number | undefined;
}

export interface ReadCounts {
  read(query: CountQuery, by: 'minute' | 'hour'): Promise<CountsRead>;
  /** How many pushes of a window have no entry in the push log. */
  unrecorded(query: CountQuery): Promise<number>;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Documents of one call: each is an hour of one client, operation and result. */
const MOST = 50_000;
/** The same where their minutes are read too. */
const MOST_WITH_MINUTES = 5_000;
/** Milliseconds for one command of the database. */
const TIMEOUT = 10_000;

/** @param mostDocuments bounds a call, for tests */
export function createReadCounts(connection: Connection, mostDocuments = MOST): ReadCounts {
  const collection = nativeCollection<PushCount>(countModel(connection));
  return {
    read: async (query, by) => {
      const isByMinute = by === 'minute';
      const most = Math.min(mostDocuments, isByMinute ? MOST_WITH_MINUTES : MOST);
      const documents = await collection
        .find(filterOf(query), { maxTimeMS: TIMEOUT })
        .project<PushCount>(isByMinute ? { pushes: 0, unrecorded: 0, times: 0 } : { minutes: 0 })
        .sort({ hour: -1 })
        .limit(most + 1)
        .toArray();
      // The hour in which it ends may not be whole.
      const cut = documents.length > most ? documents[most]?.hour.getTime() : undefined;
      const whole = documents.filter(({ hour }) => cut === undefined || hour.getTime() > cut);
      const counts = whole.flatMap((document) =>
        isByMinute ? minutesOf(document, query) : [hourOf(document)],
      );
      return { counts, cutAt: cut === undefined ? undefined : cut + HOUR };
    },
    unrecorded: async (query) => {
      const documents = await collection
        .find({ ...filterOf(query), unrecorded: { $gt: 0 } }, { maxTimeMS: TIMEOUT })
        .hint('unrecorded')
        .project<PushCount>({ pushes: 0, times: 0 })
        .limit(mostDocuments)
        .toArray();
      const minutes = documents.flatMap((document) => minutesOf(document, query));
      return minutes.reduce((sum, { unrecorded = 0 }) => sum + unrecorded, 0);
    },
  };
}

/** The hours that reach into the window. */
function filterOf({ systemCode, from, to, operation, results }: CountQuery) {
  const filter: mongo.Filter<PushCount> = {
    ...(systemCode !== undefined && { systemCode }),
    hour: { $gt: new Date(Math.max(from - HOUR, -1)), $lt: new Date(to) },
    ...(operation !== undefined && { operation }),
    ...(results && { result: { $in: [...results] } }),
  };
  return filter;
}

function hourOf({ hour, operation, result, ...count }: PushCount): Counted {
  return { ...count, start: hour.getTime(), operation, result };
}

function minutesOf({ hour, operation, result, minutes = {} }: PushCount, query: CountQuery) {
  return Object.entries(minutes)
    .map(([minute, count]): Counted => {
      return { ...count, start: hour.getTime() + Number(minute) * MINUTE, operation, result };
    })
    .filter(({ start }) => start >= query.from && start < query.to);
}
