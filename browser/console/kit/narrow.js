/** True if the window has room for one column only. It changes when a phone is turned. */
import { signal } from '@preact/signals';

const query = matchMedia('(max-width: 40rem)');

export const isNarrow = signal(query.matches);
query.addEventListener('change', () => {
  isNarrow.value = query.matches;
});
