/** The moment that "today" and "yesterday" refer to. */

import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { route } from './route.js';

const looks = signal(0);

/** Call it when the user refreshes: in an open tab a day may have passed. */
export function lookAnew() {
  looks.value += 1;
}

/** The moment stays the same while the user reads and scrolls. It changes with the range and on refresh. */
export function useMoment() {
  const { range, from, to } = route.value.params;
  return useMemo(() => Date.now(), [range, from, to, looks.value]);
}
