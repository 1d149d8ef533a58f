/** Holds the ledger against the push log: the sequential fold of what was accepted, in its order. */
import type { Connection } from 'mongoose';
import { decide } from '../../src/domain/decide';
import type { Matter } from '../../src/domain/matter';
import type { Operation } from '../../src/domain/operation';
import { matterModel, toMatter } from '../../src/storage/ledger/matters';
import { entryModel } from '../../src/storage/push-log/entry';

/** An operation that a test sent and that was answered with code 0. */
export interface Acknowledged {
  readonly requestId: string;
  readonly operation: Operation;
}

/** What must agree between two ways to the same matter: everything but its times. */
export type Comparable = Omit<Matter, 'createdAt' | 'updatedAt' | 'deletedAt' | 'matterId'>;

export function comparable(matter: Matter): Comparable {
  const { createdAt: _c, updatedAt: _u, deletedAt: _d, matterId: _m, ...rest } = matter;
  return rest;
}

export async function storedMatter(db: Connection, externalId: string): Promise<Matter> {
  const record = await matterModel(db).findOne({ externalId }).lean();
  if (!record) throw new Error(`the ledger has no ${externalId}`);
  return toMatter(record);
}

/**
 * Folds acknowledged operations one by one in the order of the revisions that the log gives them.
 *
 * @throws where the revisions are not 1, 2, 3, …: an operation was lost or took effect twice
 */
export async function sequentialFold(
  db: Connection,
  key: { systemCode: string; externalId: string },
  acknowledged: readonly Acknowledged[],
  names: ReadonlyMap<string, string>,
): Promise<Matter | undefined> {
  const operations = new Map(acknowledged.map((it) => [it.requestId, it.operation]));
  const entries = await entryModel(db)
    .find({ ...key, state: 'PERSISTED' })
    .sort({ revision: 1 })
    .lean();
  const context = { ...key, now: 0, newMatterId: 1n, names, concluded: new Set(['DONE']) };
  let matter: Matter | undefined;
  let expected = 0;
  for (const entry of entries) {
    const operation = operations.get(String(entry._id));
    if (!operation) throw new Error(`the log has ${entry._id}, which nobody was told of`);
    // A push that changed nothing has no revision.
    if (entry.revision === undefined) continue;
    expected += 1;
    if (entry.revision !== expected) {
      throw new Error(`${key.externalId}: revision ${entry.revision} where ${expected} was due`);
    }
    const decision = decide(matter, operation, context);
    if (decision.kind === 'accepted') matter = decision.matter;
  }
  if (entries.length !== acknowledged.length) {
    throw new Error(`${acknowledged.length} acknowledged, ${entries.length} in the log`);
  }
  return matter;
}
