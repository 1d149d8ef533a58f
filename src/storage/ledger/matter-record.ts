/** Between the domain's matter (instants as numbers) and its document (instants as dates). */
import { EMPTY_CONTENT, type Matter } from '../../domain/matter';
import type { MatterRecord } from './matter-model';

const INSTANTS: ReadonlySet<string> = new Set([
  ...['deadlineAt', 'sourceUpdatedAt', 'createdAt', 'updatedAt', 'deletedAt'],
]);

export function toMatter(record: MatterRecord): Matter {
  const { _id, deadlineAt, sourceUpdatedAt, createdAt, updatedAt, deletedAt, ...rest } = record;
  return {
    // First, and not behind the spreads: after those V8 adds each further name for itself, which is slow.
    matterId: BigInt(_id),
    // A matter that was stored before there was a field has it as absent.
    ...EMPTY_CONTENT,
    ...rest,
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
export function toRecord({ matterId, ...fields }: Matter): MatterRecord {
  return storedFields({ _id: matterId, ...fields }) as MatterRecord;
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

function storedFields(fields: object): Partial<MatterRecord> {
  // A loop: it runs for each field of each matter that is written.
  const stored: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fields)) {
    stored[field] = INSTANTS.has(field) && typeof value === 'number' ? new Date(value) : value;
  }
  return stored as Partial<MatterRecord>;
}
