/** A cursor that does not stay open for ever, whoever is slow. */
import type { mongo } from 'mongoose';

/** The event loop gets its turn between two batches. */
const BATCH = 1_000;

/**
 * The records of a cursor as they are asked for; it is closed when its reader leaves.
 *
 * @param timeout milliseconds, for the database's work as well as for the reader's
 * @param batch records that are decoded in one go
 * @throws Error where it takes longer
 */
export async function* timedRead<T>(
  cursor: mongo.FindCursor<T>,
  timeout: number,
  batch = BATCH,
): AsyncGenerator<T, void> {
  const deadline = performance.now() + timeout;
  for await (const record of cursor.maxTimeMS(timeout).batchSize(batch)) {
    if (performance.now() > deadline) throw new Error(`the read took longer than ${timeout} ms`);
    yield record;
  }
}
