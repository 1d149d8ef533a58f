/** The stored document of a matter, with indexes and conversions. */

import { type Connection, type Model, Schema, type Types } from 'mongoose';
import { CONTENT_TEXTS, type Matter, type Party } from '../../domain/matter';

export interface MatterKey {
  readonly systemCode: string;
  readonly externalId: string;
}

/** Fields that are epoch milliseconds in `Matter`, and dates in the stored document. */
const INSTANTS: ReadonlySet<string> = new Set([
  ...['deadlineAt', 'sourceUpdatedAt', 'createdAt', 'updatedAt', 'deletedAt'],
]);

export function toMatter(record: MatterRecord): Matter {
  // An object literal with every field is several times faster than a loop or a spread.
  return {
    matterId: BigInt(record._id),
    systemCode: record.systemCode,
    externalId: record.externalId,
    matterType: record.matterType,
    title: record.title,
    bizStatus: record.bizStatus,
    phase: record.phase,
    priorityRank: record.priorityRank,
    // A manual edit in the database can remove `parties` and `pastHandlers`.
    parties: record.parties ?? [],
    pastHandlers: record.pastHandlers ?? [],
    sourceUpdatedAt: instantOf(record.sourceUpdatedAt),
    deleted: record.deleted,
    createdAt: instantOf(record.createdAt) ?? 0,
    updatedAt: instantOf(record.updatedAt) ?? 0,
    deletedAt: instantOf(record.deletedAt),
    revision: record.revision,
    // A document from an older version of the service can lack the following fields.
    summary: record.summary ?? null,
    content: record.content ?? null,
    pcUrl: record.pcUrl ?? null,
    mobileUrl: record.mobileUrl ?? null,
    bizType: record.bizType ?? null,
    priority: record.priority ?? null,
    deadlineAt: instantOf(record.deadlineAt),
    initiatorExtId: record.initiatorExtId ?? null,
    initiatorUsername: record.initiatorUsername ?? null,
    externalStatusCode: record.externalStatusCode ?? null,
    externalStatusLabel: record.externalStatusLabel ?? null,
    payloadJson: record.payloadJson ?? null,
  };
}

const instantOf = (value: Date | null) => (value instanceof Date ? value.getTime() : null);

export function toRecord(matter: Matter): MatterRecord {
  return {
    _id: matter.matterId,
    systemCode: matter.systemCode,
    externalId: matter.externalId,
    matterType: matter.matterType,
    title: matter.title,
    bizStatus: matter.bizStatus,
    phase: matter.phase,
    priorityRank: matter.priorityRank,
    parties: matter.parties,
    pastHandlers: matter.pastHandlers,
    sourceUpdatedAt: dateOf(matter.sourceUpdatedAt),
    deleted: matter.deleted,
    createdAt: new Date(matter.createdAt),
    updatedAt: new Date(matter.updatedAt),
    deletedAt: dateOf(matter.deletedAt),
    revision: matter.revision,
    summary: matter.summary,
    content: matter.content,
    pcUrl: matter.pcUrl,
    mobileUrl: matter.mobileUrl,
    bizType: matter.bizType,
    priority: matter.priority,
    deadlineAt: dateOf(matter.deadlineAt),
    initiatorExtId: matter.initiatorExtId,
    initiatorUsername: matter.initiatorUsername,
    externalStatusCode: matter.externalStatusCode,
    externalStatusLabel: matter.externalStatusLabel,
    payloadJson: matter.payloadJson,
  };
}

const dateOf = (instant: number | null) => (instant === null ? null : new Date(instant));

/** Compares lists by reference, because `decide` (`domain/decide.ts`) does not copy an unchanged list. */
export function changedFields(before: Matter, after: Matter): Partial<MatterRecord> {
  const changed: Record<string, unknown> = {};
  for (const field of Object.keys(after) as (keyof Matter)[]) {
    const value = after[field];
    if (value === before[field]) continue;
    changed[field] = INSTANTS.has(field) && typeof value === 'number' ? new Date(value) : value;
  }
  return changed as Partial<MatterRecord>;
}

type Instants = 'deadlineAt' | 'sourceUpdatedAt' | 'createdAt' | 'updatedAt' | 'deletedAt';

/** The stored document; `_id` is the matter id. */
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

export const PAST_HANDLERS_INDEX = 'past_handlers';

matterSchema.index({ systemCode: 1, externalId: 1 }, { unique: true, name: 'key' });
// The lists of the portal (docs/read-the-ledger.md) and the search for a username use this index.
matterSchema.index(
  { 'parties.username': 1, 'parties.partyRole': 1, phase: 1, updatedAt: -1 },
  { name: 'party_lists' },
);
// With this index, the portal and `eraseUser` find the matters of a former ASSIGNEE.
matterSchema.index({ pastHandlers: 1, updatedAt: -1 }, { name: PAST_HANDLERS_INDEX });
matterSchema.index({ initiatorUsername: 1, phase: 1, updatedAt: -1 }, { name: 'drafts' });
// With this index, queries read the matters of a system in the order of `updatedAt`.
matterSchema.index({ systemCode: 1, updatedAt: 1, _id: 1 }, { name: 'updates' });
matterSchema.index({ systemCode: 1, phase: 1, externalId: 1 }, { name: 'open_list' });
// If the query `matters/digest` has a range of days, the query uses this index.
matterSchema.index({ systemCode: 1, sourceUpdatedAt: 1 }, { name: 'source_days' });

export function matterModel(connection: Connection): Model<MatterRecord> {
  return (
    connection.models.Matter ?? connection.model<MatterRecord>('Matter', matterSchema as Schema)
  );
}
