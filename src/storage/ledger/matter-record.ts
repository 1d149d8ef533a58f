/** Between the domain's matter (instants as numbers) and its document (instants as dates). */
import { EMPTY_CONTENT, type Matter } from '../../domain/matter';
import type { MatterRecord } from './matter-model';

const INSTANTS = ['deadlineAt', 'sourceUpdatedAt', 'createdAt', 'updatedAt', 'deletedAt'] as const;
const isInstant = (field: string) => (INSTANTS as readonly string[]).includes(field);

export function toMatter(record: MatterRecord): Matter {
  const { _id, deadlineAt, sourceUpdatedAt, createdAt, updatedAt, deletedAt, ...rest } = record;
  return {
    // A matter that was stored before there was a field has it as absent.
    ...EMPTY_CONTENT,
    ...rest,
    matterId: BigInt(_id),
    // What somebody changed by hand must not stop the matter, or a comparison that would mend it.
    parties: rest.parties ?? [],
    pastHandlers: rest.pastHandlers ?? [],
    deadlineAt: instantOf(deadlineAt),
    sourceUpdatedAt: instantOf(sourceUpdatedAt),
    createdAt: instantOf(createdAt) ?? 0,
    updatedAt: instantOf(updatedAt) ?? 0,
    deletedAt: instantOf(deletedAt),
  };
}

const instantOf = (value: Date | null) => (value instanceof Date ? value.getTime() : null);

/** The document of a new matter. */
export function toRecord(matter: Matter): MatterRecord {
  const { matterId, ...fields } = matter;
  return { _id: matterId, ...storedFields(fields) } as MatterRecord;
}

/**
 * The fields in which `after` differs from `before`, as they are stored. The fold keeps the
 * references of what it leaves alone, so identity tells.
 */
export function changedFields(before: Matter, after: Matter): Partial<MatterRecord> {
  const changed = Object.entries(after).filter(
    ([field, value]) => before[field as keyof Matter] !== value,
  );
  return storedFields(Object.fromEntries(changed));
}

function storedFields(fields: Partial<Matter>): Partial<MatterRecord> {
  const stored = Object.entries(fields).map(([field, value]) =>
    isInstant(field) && typeof value === 'number' ? [field, new Date(value)] : [field, value],
  );
  return Object.fromEntries(stored);
}
