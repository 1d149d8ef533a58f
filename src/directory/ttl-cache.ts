/** A bounded cache whose entries end after a short time; concurrent loads of one key share one. */
import type { Clock } from '../clock';

export interface TtlCache<V> {
  get(key: string): Promise<V>;
}

/**
 * @param load reads the value of a key; a failed load is not kept
 * @param ttl how long a value is believed, in milliseconds
 * @param maxEntries beyond it the oldest entries go
 */
export function createTtlCache<V>(
  load: (key: string) => Promise<V>,
  { ttl, maxEntries, clock }: { ttl: number; maxEntries: number; clock: Clock },
): TtlCache<V> {
  const entries = new Map<string, { value: Promise<V>; until: number }>();
  const forget = (key: string) => entries.delete(key);
  return {
    get: (key) => {
      const now = clock();
      const kept = entries.get(key);
      if (kept && kept.until > now) return kept.value;
      forget(key);
      const value = load(key);
      const entry = { value, until: now + ttl };
      entries.set(key, entry);
      value.catch(() => {
        if (entries.get(key) === entry) forget(key);
      });
      const oldest = entries.keys().next();
      if (entries.size > maxEntries && !oldest.done) forget(oldest.value);
      return value;
    },
  };
}
