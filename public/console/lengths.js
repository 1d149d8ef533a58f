/** Spans of time that may be as long as a retention. */
import { spanText } from './parts.js';
import { SETUP_WORDS } from './setup-words.js';
import { sayWith } from './speech.js';

const DAY = 86_400_000;

/** Days where a span is long, whole seconds where it has them. @param {number} ms */
export function lengthText(ms) {
  if (ms >= 2 * DAY) return sayWith(SETUP_WORDS.days, Math.round(ms / DAY));
  return ms < 60_000 && ms % 1_000 === 0 ? `${ms / 1_000} s` : spanText(ms);
}
