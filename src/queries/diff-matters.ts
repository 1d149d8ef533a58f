/** The query `matters/diff` compares matters of the ledger with expected values. */
import type { HeldView, MatterDiff } from '../protocol/matter-answers';
import type { ComparedMatter, MatterReader } from '../storage/ledger';
import { compareWithLedger, type ExpectedFields } from './compare';

export function createDiffMatters(reader: Pick<MatterReader, 'forComparison'>) {
  return async (
    systemCode: string,
    { lines }: { readonly lines: readonly ExpectedFields[] },
  ): Promise<MatterDiff> => {
    const ids = lines.map(({ externalId }) => externalId);
    const stored = new Map<string, ComparedMatter>();
    for await (const matter of reader.forComparison(systemCode, ids))
      stored.set(matter.externalId, matter);
    const differing = lines.flatMap((line) => {
      const here = stored.get(line.externalId);
      const differences = compareWithLedger(line, here);
      if (differences.length === 0) return [];
      return [{ externalId: line.externalId, differences, here: here ? toView(here) : null }];
    });
    const compared = lines.length;
    return { compared, equal: compared - differing.length, differences: differing };
  };
}

function toView(matter: ComparedMatter): HeldView {
  const { matterId, bizStatus, externalStatusCode, sourceUpdatedAt, deleted } = matter;
  return {
    matterId: matterId.toString(),
    bizStatus,
    externalStatusCode,
    sourceUpdatedAt: sourceUpdatedAt === null ? null : new Date(sourceUpdatedAt).toISOString(),
    deleted,
  };
}
