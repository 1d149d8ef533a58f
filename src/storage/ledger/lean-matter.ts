/** Matters of which only some fields are read, for reads of very many. */
import type { Matter } from '../../domain/matter';
import type { MatterRecord } from './matter-model';

/** What a comparison line by line needs. */
const HELD_FIELDS = [
  'matterId',
  'externalId',
  'bizStatus',
  'externalStatusCode',
  'sourceUpdatedAt',
  'deleted',
] as const;
export type HeldMatter = Pick<Matter, (typeof HELD_FIELDS)[number]>;

/** What a list of open matters shows. */
const OPEN_FIELDS = [
  'matterId',
  'externalId',
  'matterType',
  'title',
  'bizType',
  'bizStatus',
  'phase',
  'sourceUpdatedAt',
  'updatedAt',
  'deleted',
] as const;
export type OpenMatter = Pick<Matter, (typeof OPEN_FIELDS)[number]>;

/** What a digest is made of. */
const DIGEST_FIELDS = [
  'externalId',
  'bizType',
  'bizStatus',
  'externalStatusCode',
  'sourceUpdatedAt',
  'phase',
  'deleted',
] as const;
export type DigestMatter = Pick<Matter, (typeof DIGEST_FIELDS)[number]>;

/** Which fields the database sends, and how they become those of the domain. */
export interface Lean<T> {
  readonly projection: Readonly<Record<string, 0 | 1>>;
  readonly toMatter: (record: MatterRecord) => T;
}

export const HELD: Lean<HeldMatter> = leanOf(HELD_FIELDS);
export const OPEN: Lean<OpenMatter> = leanOf(OPEN_FIELDS);
export const DIGEST: Lean<DigestMatter> = leanOf(DIGEST_FIELDS);

function leanOf<F extends keyof Matter>(fields: readonly F[]): Lean<Pick<Matter, F>> {
  const withId = (fields as readonly string[]).includes('matterId');
  const stored = fields.filter((field) => field !== 'matterId');
  return {
    projection: { ...Object.fromEntries(stored.map((field) => [field, 1])), _id: withId ? 1 : 0 },
    toMatter: (record) => {
      // A loop: it runs for each of some hundred thousand records.
      const lean: Record<string, unknown> = withId ? { matterId: BigInt(record._id) } : {};
      for (const field of stored) {
        const value = record[field as keyof MatterRecord] ?? null;
        lean[field] = value instanceof Date ? value.getTime() : value;
      }
      return lean as Pick<Matter, F>;
    },
  };
}
