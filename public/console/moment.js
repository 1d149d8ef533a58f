/** The moment by which "today" and "yesterday" are known. */
import { useMemo } from './lib/hooks.js';
import { signal } from './lib/signals.js';
import { route } from './route.js';

const looks = signal(0);

/** Somebody asks anew: a day may have passed in a tab that was left open. */
export function lookAnew() {
  looks.value += 1;
}

/** It stays while somebody reads, ticks and scrolls; it is now where the range changes, or somebody asks anew. */
export function useMoment() {
  const { range, from, to } = route.value.params;
  return useMemo(() => Date.now(), [range, from, to, looks.value]);
}
