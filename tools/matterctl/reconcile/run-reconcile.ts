/** Compares the expected matters of a file with the ledger in batches, and then lists orphans. */

import { inBatches } from '../../../src/concurrency/batcher';
import type { Matter } from '../../../src/domain/matter';
import { ASSIGNED_ID_PREFIX, type OperationName } from '../../../src/domain/operation';
import { createDoubtFinder, type Doubt, isExponent } from '../../../src/queries/reconcile/doubts';
import type { ExpectedMatter } from '../../../src/queries/reconcile/expected';
import {
  doubtDifference,
  type FoundDifference,
  findDifferences,
  type SideValues,
  toSide,
  withLedgerTime,
} from '../../../src/queries/reconcile/find';
import {
  createRepushLine,
  isNewerHere,
  type Obstacle,
  type RepushLine,
  type RepushOptions,
} from '../../../src/queries/reconcile/repush';
import type { MatterSource } from '../source/sources';
import type { Source } from './source';
import type { DifferenceTally, FindingKind } from './tally';

/** One difference of a matter, as the report prints it. */
export interface Entry {
  readonly externalId: string;
  readonly difference: FindingKind;
  readonly yours: SideValues;
  readonly here: SideValues;
  /** The operation of the line in the re-push file for this matter, or why there is no line. */
  readonly repush: OperationName | Obstacle | null;
}

export interface Reconciling {
  readonly systemCode: string;
  readonly source: Source;
  readonly ledger: Pick<MatterSource, 'byKeys' | 'orphans'>;
  readonly tally: DifferenceTally;
  readonly options: RepushOptions;
  readonly onEntry: (entry: Entry) => Promise<void>;
  /** Called with lines for the re-push file, several together. */
  readonly onLines: (lines: readonly RepushLine[]) => Promise<void>;
}

/** Maximum ids of one query. */
const BATCH = 500;

export async function reconcile(job: Reconciling): Promise<void> {
  const { source, ledger, systemCode } = job;
  let reading: ReturnType<typeof readDoubts> | undefined;
  const doubtOf: DoubtOf = async (id) => {
    reading ??= readDoubts(job);
    return (await reading)(id);
  };
  for await (const expectedMatters of inBatches(source.expectedMatters(), BATCH)) {
    const ids = expectedMatters.map(({ expected }) => expected.externalId);
    const stored = new Map<string, Matter>();
    for await (const matter of ledger.byKeys(systemCode, ids))
      stored.set(matter.externalId, matter);
    const lines: RepushLine[] = [];
    for (const expectedMatter of expectedMatters) {
      const here = stored.get(expectedMatter.expected.externalId);
      const found = await findOrDoubt(expectedMatter, here, doubtOf);
      const line = await reportFound({ expectedMatter, stored: here, found }, job);
      if (line) lines.push(line);
    }
    if (lines.length > 0) await job.onLines(lines);
  }
}

type DoubtOf = (externalId: string) => Promise<Doubt | undefined>;

/**
 * Reads the open matters of the ledger, when the first matter is missing: its id may be one of them in another form.
 */
async function readDoubts({ source, ledger, systemCode }: Reconciling) {
  const open: string[] = [];
  for await (const { externalId } of ledger.orphans(systemCode, source)) open.push(externalId);
  return createDoubtFinder(source.ids(), open);
}

async function findOrDoubt(
  expectedMatter: ExpectedMatter,
  stored: Matter | undefined,
  doubtOf: DoubtOf,
): Promise<readonly FoundDifference[]> {
  const found = findDifferences(expectedMatter, stored);
  const { externalId, deleted } = expectedMatter.expected;
  if (!isExponent(externalId) && (stored || deleted)) return found;
  const doubt = await doubtOf(externalId);
  return doubt ? [doubtDifference(expectedMatter, doubt)] : found;
}

interface Compared {
  readonly expectedMatter: ExpectedMatter;
  readonly stored: Matter | undefined;
  readonly found: readonly FoundDifference[];
}

/** Reports the differences of one matter. @returns the line that corrects the ledger, if there is one */
async function reportFound(
  { expectedMatter, stored, found }: Compared,
  { tally, options, onEntry }: Reconciling,
): Promise<RepushLine | undefined> {
  const findings = found.map(({ finding }) => finding);
  tally.compared(findings);
  if (found.length === 0) return undefined;
  const push = createRepushLine({ expectedMatter, stored, findings }, options);
  if (typeof push === 'string') tally.notRepushed(push);
  else tally.repushed(push, isNewerHere(withLedgerTime(expectedMatter, stored), stored));
  for (const { finding, yours, here } of found) {
    const { externalId } = expectedMatter.expected;
    const entry = { externalId, difference: finding, yours, here };
    await onEntry({ ...entry, repush: typeof push === 'string' ? push : push.op });
  }
  return typeof push === 'string' ? undefined : push;
}

/**
 * Lists the matters that are open in the ledger and not in the file. It does not close them, because a missing line
 * does not prove that a matter is closed. It leaves out ids that the service has assigned, because source systems
 * seldom store them.
 */
export async function listOrphans(job: Reconciling): Promise<void> {
  const { source, ledger, systemCode, tally, onEntry } = job;
  for await (const matter of ledger.orphans(systemCode, source)) {
    const { externalId } = matter;
    if (externalId.startsWith(ASSIGNED_ID_PREFIX)) continue;
    tally.orphan();
    const here = toSide(matter, ['bizStatus', 'title', 'sourceUpdatedAt']);
    await onEntry({ externalId, difference: 'ORPHAN', yours: null, here, repush: null });
  }
}
