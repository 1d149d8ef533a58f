/** A portal user, as far as matters need one: who may be a party, and under which name. */
import { type Connection, type Model, Schema } from 'mongoose';

export interface UserRecord {
  /** The portal login name. */
  _id: string;
  displayName: string;
  enabled: boolean;
}

const userSchema = new Schema<UserRecord>(
  {
    _id: { type: String, required: true },
    displayName: { type: String, required: true },
    enabled: { type: Boolean, default: true },
  },
  { collection: 'users', versionKey: false },
);

export function userModel(connection: Connection): Model<UserRecord> {
  return connection.models.User ?? connection.model<UserRecord>('User', userSchema);
}
