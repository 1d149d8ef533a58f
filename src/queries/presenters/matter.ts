/** Converts a matter to the form that answers contain. */
import type { Matter } from '../../domain/matter';
import { type MatterView, matterView } from '../../protocol/matter-view';
import { formatLocal } from '../../protocol/time';

/** Fields whose type in answers differs from their type in `Matter`. */
type PresentedFields = {
  readonly [Name in keyof MatterView as Matter[Name] extends MatterView[Name]
    ? never
    : Name]: MatterView[Name];
};

const FIELDS = Object.keys(matterView.shape) as (keyof MatterView)[];

export function toMatterView(matter: Matter, timeZone: string): MatterView {
  const { deadlineAt, sourceUpdatedAt, deletedAt } = matter;
  const presented: PresentedFields & Pick<MatterView, 'parties'> = {
    matterId: matter.matterId.toString(),
    deadlineAt: deadlineAt === null ? null : formatLocal(deadlineAt, timeZone),
    sourceUpdatedAt: sourceUpdatedAt === null ? null : toIso(sourceUpdatedAt),
    parties: matter.parties.map(({ username, partyRole, displayName, unread }) => ({
      username,
      partyRole,
      displayName,
      unread,
    })),
    deletedAt: deletedAt === null ? null : toIso(deletedAt),
    createdAt: toIso(matter.createdAt),
    updatedAt: toIso(matter.updatedAt),
  };
  const values = { ...matter, ...presented };
  return Object.fromEntries(FIELDS.map((name) => [name, values[name]])) as unknown as MatterView;
}

const toIso = (instant: number) => new Date(instant).toISOString();

/** Estimated characters of all short fields of a matter. */
const FRAME = 1_000;
/** Estimated characters of one party. */
const PARTY = 120;

/** The approximate size of a matter in an answer, in characters. */
export function weightOf(matter: Matter): number {
  const { summary, content, payloadJson, parties } = matter;
  const texts = [summary, content, payloadJson].reduce((sum, text) => sum + (text?.length ?? 0), 0);
  return FRAME + PARTY * parties.length + texts;
}
