/** Whether there is room for one column alone; it changes where a phone is turned. */
import { signal } from './lib/signals.js';

const query = matchMedia('(max-width: 40rem)');

export const isNarrow = signal(query.matches);
query.addEventListener('change', () => {
  isNarrow.value = query.matches;
});
