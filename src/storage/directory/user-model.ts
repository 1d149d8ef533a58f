/** A portal user, as far as matters need one: who may be a party, and under which name. */
import { type Connection, type Model, Schema } from 'mongoose';

export interface UserRecord {
  /** The portal login name. */
  _id: string;
  displayName: string;
  enabled: boolean;
  /** The login as `foldUsername` writes it: finds a login that was written otherwise. */
  folded?: string;
}

/** What two spellings of a login have in common that differ only in case or surrounding blanks. */
export const foldUsername = (username: string): string => username.trim().toLowerCase();

/** Only suggestions read along it. */
export const FOLDED_INDEX = 'folded';

const userSchema = new Schema<UserRecord>(
  {
    _id: { type: String, required: true },
    displayName: { type: String, required: true },
    enabled: { type: Boolean, default: true },
    folded: String,
  },
  { collection: 'users', versionKey: false },
);
userSchema.index({ folded: 1 }, { name: FOLDED_INDEX });

export function userModel(connection: Connection): Model<UserRecord> {
  return connection.models.User ?? connection.model<UserRecord>('User', userSchema);
}
