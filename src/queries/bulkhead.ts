/** A bulkhead: bounds heavy work to so many at a time, and to so many of one caller. */
import { PushError } from '../protocol/errors';

export interface Bulkhead {
  /**
   * @param key who asks
   * @returns release: gives the place back; further calls of it do nothing
   * @throws PushError TOO_MANY_QUERIES where all places are taken
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
