/** A client's rate as operators read it. */
import type { RateOverride } from '../../src/storage/directory/rate-override';

export function limitText(limit: RateOverride | null): string {
  if (!limit) return 'default';
  const { rate = 'default', burst = 'default' } = limit;
  return rate === 0 ? 'none' : `rate ${rate}, burst ${burst}`;
}
