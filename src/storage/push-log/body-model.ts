/**
 * The bodies of logged pushes, apart from their entries: they are kept for a shorter time
 * (PUSH_BODY_RETENTION) and would make the log itself slow to read.
 */
import { type Connection, type Model, Schema, type Types } from 'mongoose';

export interface LoggedBody {
  /** Request id. */
  _id: Types.ObjectId;
  /** The bytes as they were sent. */
  body: Buffer;
  receivedAt: Date;
  /** As of its entry. */
  expireAt?: Date;
}

const bodySchema = new Schema<LoggedBody>(
  {
    _id: { type: Schema.Types.ObjectId, required: true },
    body: { type: Buffer, required: true },
    receivedAt: { type: Date, required: true },
    expireAt: Date,
  },
  { collection: 'push_bodies', versionKey: false },
);

bodySchema.index({ expireAt: 1 }, { name: 'expiry', sparse: true, expireAfterSeconds: 0 });

export function bodyModel(connection: Connection): Model<LoggedBody> {
  return connection.models.LoggedBody ?? connection.model<LoggedBody>('LoggedBody', bodySchema);
}
