/** The pushes of one matter in the order of receipt, and whether the log still has them all. */
import type { MatterKey } from '../../ledger/matters';
import type { LogEntry } from '../../push-log/entry-model';
import type { LogSearch } from '../../push-log/search';
import { inBatches } from '../in-batches';
import { firstEntries } from './first-entries';

export interface HistoryOptions {
  /** Only the newest so many. */
  readonly limit?: number | undefined;
  /** Told what is missing, in a line. */
  readonly tell: (note: string) => void;
}

/** Pushes that are looked at for the one that created the matter. */
const BEGINNING = 500;

export async function* historyOf(
  matter: MatterKey,
  search: LogSearch,
  { limit, tell }: HistoryOptions,
): AsyncGenerator<LogEntry> {
  if (limit !== undefined) {
    yield* newestOf(matter, search, limit, tell);
    return;
  }
  let isFirst = true;
  for await (const batch of inBatches(search.all(matter, { oldestFirst: true }), BEGINNING)) {
    if (isFirst) tellMissing(batch, tell);
    isFirst = false;
    yield* batch;
  }
}

async function* newestOf(
  matter: MatterKey,
  search: LogSearch,
  limit: number,
  tell: HistoryOptions['tell'],
): AsyncGenerator<LogEntry> {
  const newest: LogEntry[] = [];
  let isMore = false;
  const onPage = ({ next }: { readonly next: string | undefined }) => {
    isMore = next !== undefined;
  };
  for await (const entry of firstEntries(search, matter, { limit, onPage })) newest.push(entry);
  newest.reverse();
  if (isMore) tell(`Only the newest ${limit} pushes: without --limit there are more.`);
  else tellMissing(newest, tell);
  yield* newest;
}

function tellMissing(oldest: readonly LogEntry[], tell: HistoryOptions['tell']): void {
  if (isWithoutBeginning(oldest)) {
    tell('Older pushes of this matter are no longer kept (PUSH_LOG_RETENTION).');
  }
}

/**
 * Whether a matter was met that none of its oldest pushes created. All of them are asked, not the
 * first: another may have taken effect before it.
 */
export function isWithoutBeginning(oldest: readonly LogEntry[]): boolean {
  return oldest.some(hasMet) && !oldest.some(isCreation);
}

const isCreation = ({ state, result }: LogEntry) => state === 'PERSISTED' && result === 'CREATED';
const hasMet = ({ state, result }: LogEntry) =>
  state === 'PERSISTED' || state === 'REPLAYED' || result === 'MATTER_DELETED';
