/** Entries as operators see them, with the numbers of their attempts. */
import { type OperatorEntryView, toOperatorEntryView } from '../../portal/entry-view';
import type { LogEntry } from '../../push-log/entry-model';
import type { FindKeyUses } from '../../push-log/key-uses';
import { inBatches } from '../in-batches';

/** Entries whose keys are looked up together. */
const BATCH = 500;

/** In their order; holds one batch at a time. */
export async function* viewsOf(
  entries: AsyncIterable<LogEntry>,
  keyUses: FindKeyUses,
): AsyncGenerator<OperatorEntryView> {
  for await (const batch of inBatches(entries, BATCH)) {
    const uses = await keyUses(batch);
    yield* batch.map((entry) => toOperatorEntryView(entry, uses.attempt(entry)));
  }
}
