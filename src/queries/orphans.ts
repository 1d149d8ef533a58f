/** Finds orphans: the open matters and drafts that are missing in the list of the source system. */
import type { OrphanCount, OrphanView } from '../protocol/matter-view';
import type { MatterReader, OpenMatter } from '../storage/ledger';

/**
 * Yields the orphans in the order of their external ids, in groups. A group can be empty.
 *
 * @param listed the external ids that the source system lists
 */
export type FindOrphans = (
  systemCode: string,
  listed: ReadonlySet<string>,
  hasTitles: boolean,
) => AsyncGenerator<readonly OrphanView[], OrphanCount>;

/** Number of matters that are read for one group of orphans. */
const GROUP_SIZE = 500;

export function createFindOrphans(reader: Pick<MatterReader, 'open'>): FindOrphans {
  return async function* (systemCode, listed, hasTitles) {
    let group: OrphanView[] = [];
    let open = 0;
    let orphans = 0;
    for await (const matter of reader.open(systemCode)) {
      open += 1;
      if (!listed.has(matter.externalId)) {
        orphans += 1;
        const { title, ...untitled } = toView(matter);
        group.push(hasTitles ? { ...untitled, title } : untitled);
      }
      if (open % GROUP_SIZE === 0) {
        yield group;
        group = [];
      }
    }
    yield group;
    return { listed: listed.size, open, orphans };
  };
}

function toView({ matterId, sourceUpdatedAt, updatedAt, ...matter }: OpenMatter): OrphanView {
  const { externalId, matterType, title, bizType, bizStatus, phase } = matter;
  return {
    externalId,
    matterId: matterId.toString(),
    matterType,
    title,
    bizType,
    bizStatus,
    phase,
    sourceUpdatedAt: sourceUpdatedAt === null ? null : new Date(sourceUpdatedAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}
