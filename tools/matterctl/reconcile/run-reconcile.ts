/** The whole comparison: the expected matters of the file, in batches, against the ledger, then orphans. */

import { inBatches } from '../../../src/concurrency/in-batches';
import type { Matter } from '../../../src/domain/matter';
import { ASSIGNED_ID_PREFIX, type OperationName } from '../../../src/domain/operation';
import { createDoubts, type Doubt, isExponent } from '../../../src/queries/reconcile/doubts';
import type { ExpectedMatter } from '../../../src/queries/reconcile/expected';
import {
  type Found,
  find,
  foundDoubt,
  type Side,
  toSide,
  withSettledTime,
} from '../../../src/queries/reconcile/find';
import {
  isNewerHere,
  type Obstacle,
  type RepushLine,
  type RepushOptions,
  repush,
} from '../../../src/queries/reconcile/repush';
import type { MatterSource } from '../source/sources';
import type { Source } from './source';
import type { Kind, Tally } from './tally';

/** One difference, as it is printed. */
export interface Entry {
  readonly externalId: string;
  readonly difference: Kind;
  readonly yours: Side;
  readonly here: Side;
  /** The operation of the re-push file's line for this matter, or why there is none. */
  readonly repush: OperationName | Obstacle | null;
}

export interface Reconciling {
  readonly systemCode: string;
  readonly source: Source;
  readonly ledger: Pick<MatterSource, 'byKeys' | 'orphans'>;
  readonly tally: Tally;
  readonly options: RepushOptions;
  readonly onEntry: (entry: Entry) => Promise<void>;
  /** Told the lines to push of some matters together. */
  readonly onLines: (lines: readonly RepushLine[]) => Promise<void>;
}

/** Keys of one query. */
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
    const held = new Map<string, Matter>();
    for await (const matter of ledger.byKeys(systemCode, ids)) held.set(matter.externalId, matter);
    const lines: RepushLine[] = [];
    for (const expectedMatter of expectedMatters) {
      const here = held.get(expectedMatter.expected.externalId);
      const found = await findOrDoubt(expectedMatter, here, doubtOf);
      const line = await tellFound({ expectedMatter, held: here, found }, job);
      if (line) lines.push(line);
    }
    if (lines.length > 0) await job.onLines(lines);
  }
}

type DoubtOf = (externalId: string) => Promise<Doubt | undefined>;

/** What is open here is read once, with the first matter that is missing: an id may be one of those in another form. */
async function readDoubts({ source, ledger, systemCode }: Reconciling) {
  const open: string[] = [];
  for await (const { externalId } of ledger.orphans(systemCode, source)) open.push(externalId);
  return createDoubts(source.ids(), open);
}

async function findOrDoubt(
  expectedMatter: ExpectedMatter,
  held: Matter | undefined,
  doubtOf: DoubtOf,
): Promise<readonly Found[]> {
  const found = find(expectedMatter, held);
  const { externalId, deleted } = expectedMatter.expected;
  if (!isExponent(externalId) && (held || deleted)) return found;
  const doubt = await doubtOf(externalId);
  return doubt ? [foundDoubt(expectedMatter, doubt)] : found;
}

interface Compared {
  readonly expectedMatter: ExpectedMatter;
  readonly held: Matter | undefined;
  readonly found: readonly Found[];
}

/** @returns the line that mends it, where there is one */
async function tellFound(
  { expectedMatter, held, found }: Compared,
  { tally, options, onEntry }: Reconciling,
): Promise<RepushLine | undefined> {
  const findings = found.map(({ finding }) => finding);
  tally.compared(findings);
  if (found.length === 0) return undefined;
  const push = repush({ expectedMatter, held, findings }, options);
  if (typeof push === 'string') tally.notRepushed(push);
  else tally.repushed(push, isNewerHere(withSettledTime(expectedMatter, held), held));
  for (const { finding, yours, here } of found) {
    const { externalId } = expectedMatter.expected;
    const entry = { externalId, difference: finding, yours, here };
    await onEntry({ ...entry, repush: typeof push === 'string' ? push : push.op });
  }
  return typeof push === 'string' ? undefined : push;
}

/**
 * Matters that are open here and not in the file. They are only told: whether one is to be closed is
 * nothing that a file can say by not naming it. Ids that the service itself assigned are left out,
 * since few sources know them.
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
