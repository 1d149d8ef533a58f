/** Limits the number of concurrent heavy requests, in total and for each key. */
import { PushError } from '../protocol/errors';

export interface Bulkhead {
  /**
   * @param key the system or the client of the request
   * @returns a function that releases the slot; a second call has no effect
   * @throws PushError TOO_MANY_QUERIES if no slot is free
   */
  acquire(key: string): () => void;
}

export function createBulkhead(limits: {
  readonly perKey: number;
  readonly total: number;
}): Bulkhead {
  const taken = new Map<string, number>();
  let total = 0;
  return {
    acquire: (key) => {
      const ofKey = taken.get(key) ?? 0;
      if (ofKey >= limits.perKey || total >= limits.total) throw new PushError('TOO_MANY_QUERIES');
      taken.set(key, ofKey + 1);
      total += 1;
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        total -= 1;
        const left = (taken.get(key) ?? 1) - 1;
        if (left > 0) taken.set(key, left);
        else taken.delete(key);
      };
    },
  };
}
