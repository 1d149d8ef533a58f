/** Whether a matter whose push failed, or a key, had a push that was accepted afterwards. */
import { type Connection, type mongo, Types } from 'mongoose';
import { nativeCollection } from '../mongo';
import { entryModel, type LogEntry } from './entry-model';

export type FailedEntry = Pick<
  LogEntry,
  '_id' | 'clientId' | 'operation' | 'externalId' | 'idempotencyKey'
>;

export type MendingEntry = Pick<LogEntry, '_id' | 'result' | 'receivedAt' | 'settledAt'>;

/**
 * @param failed of one system, each of another matter, or of none and of another key
 * @returns by request id of the failure the first later push that was accepted (PERSISTED or REPLAYED)
 */
export type FindMended = (
  systemCode: string,
  failed: readonly FailedEntry[],
) => Promise<ReadonlyMap<string, MendingEntry>>;

/** Milliseconds for one command: of several hundred look-ups, each along an index. */
const COMMAND_TIMEOUT = 10_000;
const ACCEPTED = { $in: ['PERSISTED', 'REPLAYED'] };
const FIELDS = { result: 1, receivedAt: 1, settledAt: 1 } as const;

interface Found {
  readonly _id: Types.ObjectId;
  readonly mended: readonly MendingEntry[];
}

export function createFindMended(connection: Connection): FindMended {
  const collection = nativeCollection<LogEntry>(entryModel(connection));

  /** One command for all: for each failure a look into the index, from its id on to the first that fits. */
  const find = async (
    failed: readonly FailedEntry[],
    by: 'externalId' | 'idempotencyKey',
    also: mongo.Filter<LogEntry>,
  ): Promise<Found[]> => {
    if (failed.length === 0) return [];
    const later = { $gt: ['$_id', '$$failure'] };
    const sameUse = [{ $eq: ['$clientId', '$$client'] }, { $eq: ['$operation', '$$operation'] }];
    const conditions = by === 'externalId' ? [later] : [later, ...sameUse];
    const pipeline = [
      { $match: { _id: { $in: failed.map(({ _id }) => new Types.ObjectId(String(_id))) } } },
      {
        $lookup: {
          from: collection.collectionName,
          localField: by,
          foreignField: by,
          let: { failure: '$_id', client: '$clientId', operation: '$operation' },
          pipeline: [
            { $match: { ...also, state: ACCEPTED, $expr: { $and: conditions } } },
            { $sort: { _id: 1 } },
            { $limit: 1 },
            { $project: FIELDS },
          ],
          as: 'mended',
        },
      },
      { $project: { mended: 1 } },
    ];
    return collection.aggregate<Found>(pipeline, { maxTimeMS: COMMAND_TIMEOUT }).toArray();
  };

  return async (systemCode, failed) => {
    const matters = failed.filter(({ externalId }) => externalId !== undefined);
    const keys = failed.filter((it) => it.externalId === undefined && it.idempotencyKey);
    const found = await Promise.all([
      find(matters, 'externalId', { systemCode }),
      find(keys, 'idempotencyKey', { systemCode }),
    ]);
    const mended = found
      .flat()
      .flatMap(({ _id, mended: [first] }) => (first ? [[String(_id), first] as const] : []));
    return new Map(mended);
  };
}
