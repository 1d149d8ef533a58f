/** The pushes of one matter in the order of receipt, and whether the log still has them all. */
import type { MatterKey } from '../../../src/storage/ledger/matters';
import { inBatches } from '../in-batches';
import type { LogSource, ShownEntry } from '../source/log-source';
import { firstEntries } from './first-entries';

export interface HistoryOptions {
  /** Only the newest so many. */
  readonly limit?: number | undefined;
  /** Told what is missing, in a line. */
  readonly tell: (note: string) => void;
}

type Told = Pick<ShownEntry, 'state' | 'outcome' | 'reason'>;

/** Pushes that are looked at for the one that created the matter. */
const BEGINNING = 500;

export async function* historyOf(
  matter: MatterKey,
  source: LogSource,
  { limit, tell }: HistoryOptions,
): AsyncGenerator<ShownEntry> {
  if (limit !== undefined) {
    yield* newestOf(matter, source, limit, tell);
    return;
  }
  let isFirst = true;
  for await (const batch of inBatches(source.all(matter, { oldestFirst: true }), BEGINNING)) {
    if (isFirst) tellMissing(batch, tell);
    isFirst = false;
    yield* batch;
  }
}

async function* newestOf(
  matter: MatterKey,
  source: LogSource,
  limit: number,
  tell: HistoryOptions['tell'],
): AsyncGenerator<ShownEntry> {
  const newest: ShownEntry[] = [];
  let isMore = false;
  const onPage = ({ next }: { readonly next: string | undefined }) => {
    isMore = next !== undefined;
  };
  for await (const entry of firstEntries(source, matter, { limit, onPage })) newest.push(entry);
  newest.reverse();
  if (isMore) tell(`Only the newest ${limit} pushes: without --limit there are more.`);
  else tellMissing(newest, tell);
  yield* newest;
}

function tellMissing(oldest: readonly Told[], tell: HistoryOptions['tell']): void {
  if (isWithoutBeginning(oldest)) {
    tell('Older pushes of this matter are no longer kept (PUSH_LOG_RETENTION).');
  }
}

/**
 * Whether a matter was met that none of its oldest pushes created. All of them are asked, not the
 * first: another may have taken effect before it.
 */
export function isWithoutBeginning(oldest: readonly Told[]): boolean {
  return oldest.some(hasMet) && !oldest.some(isCreation);
}

const isCreation = ({ state, outcome }: Told) => state === 'PERSISTED' && outcome === 'CREATED';
const hasMet = ({ state, reason }: Told) =>
  state === 'PERSISTED' || state === 'REPLAYED' || reason === 'MATTER_DELETED';
