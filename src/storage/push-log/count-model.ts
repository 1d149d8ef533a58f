/**
 * How many pushes ended how: a document for each hour, client, operation and result, with its minutes.
 * Only clients of the directory and words of the contract make documents, so strangers make none.
 */
import { type Connection, type Model, Schema } from 'mongoose';
import type { Durations } from '../../runtime/durations';

/** Of one hour, or of one of its minutes. */
export interface Count {
  pushes?: number;
  /** Those of them that have no entry in the push log. */
  unrecorded?: number;
  times?: Durations;
}

export interface PushCount extends Count {
  /** Hour, client, operation, result. */
  _id: string;
  systemCode: string;
  clientId: string;
  operation: string;
  /** An outcome, REPLAYED, or a reason. */
  result: string;
  /** Where the hour begins, in the time zone of the portal. */
  hour: Date;
  /** By its number, 0 to 59. */
  minutes?: Readonly<Record<string, Count>>;
}

const countSchema = new Schema<PushCount>(
  {
    _id: { type: String, required: true },
    systemCode: { type: String, required: true },
    clientId: { type: String, required: true },
    operation: { type: String, required: true },
    result: { type: String, required: true },
    hour: { type: Date, required: true },
    pushes: Number,
    unrecorded: Number,
    times: { type: Schema.Types.Mixed, default: undefined },
    minutes: { type: Schema.Types.Mixed, default: undefined },
  },
  { collection: 'push_counts', versionKey: false },
);

countSchema.index({ systemCode: 1, hour: -1 }, { name: 'system_hours' });
// Few have it, and answers about the log ask for these alone.
countSchema.index(
  { systemCode: 1, hour: -1, unrecorded: 1 },
  { name: 'unrecorded', partialFilterExpression: { unrecorded: { $gt: 0 } } },
);

export function countModel(connection: Connection): Model<PushCount> {
  return connection.models.PushCount ?? connection.model<PushCount>('PushCount', countSchema);
}
