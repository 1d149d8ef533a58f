/** `matters/orphans`: what is open here and unknown to the system that it belongs to. */
import type { OrphanCount, OrphanView } from '../protocol/matter-view';
import type { OpenMatter } from '../storage/ledger/lean-matter';
import type { MatterReader } from '../storage/ledger/matter-reader';

/** Orphans by external id, in groups that may be empty, and how many there were in the end. */
export type FindOrphans = (
  systemCode: string,
  listed: ReadonlySet<string>,
) => AsyncGenerator<readonly OrphanView[], OrphanCount>;

/** Open matters that are looked at for one group. */
const GROUP = 500;

export function createFindOrphans(reader: Pick<MatterReader, 'open'>): FindOrphans {
  return async function* (systemCode, listed) {
    let group: OrphanView[] = [];
    let open = 0;
    let orphans = 0;
    for await (const matter of reader.open(systemCode)) {
      open += 1;
      if (!listed.has(matter.externalId)) {
        orphans += 1;
        group.push(toView(matter));
      }
      if (open % GROUP === 0) {
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
