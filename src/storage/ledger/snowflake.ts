/**
 * 64-bit ids: 41 bits of milliseconds, 10 bits of worker, 12 bits of sequence. They never run
 * backwards within a process, whatever the clock does; across processes the leased worker number
 * keeps them apart, and the unique `_id` of the ledger has the last word.
 */
import type { Clock } from '../../concurrency/clock';

const EPOCH = Date.UTC(2024, 0, 1);
const WORKER_BITS = 10n;
const SEQUENCE_BITS = 12n;
const MAX_SEQUENCE = (1 << Number(SEQUENCE_BITS)) - 1;

export const MAX_WORKERS = 1 << Number(WORKER_BITS);

/**
 * @param workerNumber the leased number, 0 to MAX_WORKERS - 1; it may throw where the lease is lost
 */
export function createSnowflakes(workerNumber: () => number, clock: Clock): () => bigint {
  let last = 0;
  let sequence = 0;
  let lastWorker = -1;
  return () => {
    const worker = workerNumber();
    const now = clock() - EPOCH;
    if (now > last) {
      last = now;
      sequence = 0;
    } else if (sequence < MAX_SEQUENCE && worker === lastWorker) {
      sequence += 1;
    } else {
      // More than 4,096 in a millisecond, or another worker number: borrow the next millisecond.
      last += 1;
      sequence = 0;
    }
    lastWorker = worker;
    const high = (BigInt(last) << WORKER_BITS) | BigInt(worker);
    return (high << SEQUENCE_BITS) | BigInt(sequence);
  };
}
