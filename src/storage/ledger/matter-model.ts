/** How a matter is stored, and the indexes for its key and for the lists that a portal needs. */
import { type Connection, type Model, Schema, type Types } from 'mongoose';
import { CONTENT_TEXTS, type Matter, type Party } from '../../domain/matter';

type Instants = 'deadlineAt' | 'sourceUpdatedAt' | 'createdAt' | 'updatedAt' | 'deletedAt';

/** A matter as a document: the id is `_id`, instants are dates. */
export type MatterRecord = Omit<Matter, 'matterId' | Instants> & {
  readonly _id: bigint;
  readonly deadlineAt: Date | null;
  readonly sourceUpdatedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly deletedAt: Date | null;
};

const text = { type: String, default: null };
const instant = { type: Date, default: null };

const partySchema = new Schema<Party & { _id?: Types.ObjectId }>(
  { username: String, partyRole: String, displayName: String, unread: Boolean },
  { _id: false },
);

const matterSchema = new Schema(
  {
    _id: { type: Schema.Types.BigInt, required: true },
    systemCode: { type: String, required: true },
    externalId: { type: String, required: true },
    matterType: { type: String, required: true },
    title: { type: String, required: true },
    ...Object.fromEntries(CONTENT_TEXTS.map((field) => [field, text])),
    priorityRank: { type: Number, required: true },
    bizStatus: { type: String, required: true },
    phase: { type: String, required: true },
    deadlineAt: instant,
    sourceUpdatedAt: instant,
    parties: { type: [partySchema], default: [] },
    pastHandlers: { type: [String], default: [] },
    deleted: { type: Boolean, required: true },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
    deletedAt: instant,
    revision: { type: Number, required: true },
  },
  { collection: 'matters', versionKey: false },
);

matterSchema.index({ systemCode: 1, externalId: 1 }, { unique: true, name: 'key' });
// My to-dos (ASSIGNEE, OPEN), done (ASSIGNEE, CONCLUDED), copied to me (CC), notices (RECIPIENT).
matterSchema.index(
  { 'parties.username': 1, 'parties.partyRole': 1, phase: 1, updatedAt: -1 },
  { name: 'party_lists' },
);
// Done, for those who handled the matter and no longer do.
matterSchema.index({ pastHandlers: 1, updatedAt: -1 }, { name: 'past_handlers' });
// My drafts.
matterSchema.index({ initiatorUsername: 1, phase: 1, updatedAt: -1 }, { name: 'drafts' });
// What changed since, in pages.
matterSchema.index({ systemCode: 1, updatedAt: 1, _id: 1 }, { name: 'updates' });
// What one system still has open here, by external id.
matterSchema.index({ systemCode: 1, phase: 1, externalId: 1 }, { name: 'open_list' });
// The days of a digest.
matterSchema.index({ systemCode: 1, sourceUpdatedAt: 1 }, { name: 'source_days' });

export function matterModel(connection: Connection): Model<MatterRecord> {
  return (
    connection.models.Matter ?? connection.model<MatterRecord>('Matter', matterSchema as Schema)
  );
}
