/** `matters/diff`: where the ledger differs from what another system expects, line by line. */
import type { HeldView, MatterDiff } from '../protocol/comparison';
import type { HeldMatter } from '../storage/ledger/lean-matter';
import type { MatterReader } from '../storage/ledger/matter-reader';
import { compare, type ExpectedFields } from './compare';

export function createDiffMatters(reader: Pick<MatterReader, 'held'>) {
  return async (
    systemCode: string,
    { lines }: { readonly lines: readonly ExpectedFields[] },
  ): Promise<MatterDiff> => {
    const ids = lines.map(({ externalId }) => externalId);
    const held = new Map<string, HeldMatter>();
    for await (const matter of reader.held(systemCode, ids)) held.set(matter.externalId, matter);
    const differing = lines.flatMap((line) => {
      const here = held.get(line.externalId);
      const differences = compare(line, here);
      if (differences.length === 0) return [];
      return [{ externalId: line.externalId, differences, here: here ? toView(here) : null }];
    });
    const compared = lines.length;
    return { compared, equal: compared - differing.length, differences: differing };
  };
}

function toView(matter: HeldMatter): HeldView {
  const { matterId, bizStatus, externalStatusCode, sourceUpdatedAt, deleted } = matter;
  return {
    matterId: matterId.toString(),
    bizStatus,
    externalStatusCode,
    sourceUpdatedAt: sourceUpdatedAt === null ? null : new Date(sourceUpdatedAt).toISOString(),
    deleted,
  };
}
