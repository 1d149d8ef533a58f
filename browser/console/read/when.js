/** Times relative to now. */
import { h } from 'preact';
import { isEnglish, say, sayWith } from '../kit/speech.js';
import { timeText } from './answer-parts.js';
import { dateAt } from './range.js';
import { now, self } from './self.js';
import { WHEN } from './when-words.js';

const MINUTE = 60_000;
const DAY = 86_400_000;

/** A time relative to now; the pointer shows the exact time. @param {{ at: string | null | undefined }} props */
export const When = ({ at }) =>
  at
    ? h('time', { dateTime: at, title: timeText(at, true) }, whenText(Date.parse(at), now.value))
    : h('span', {}, '–');

/** @param {number} at epoch milliseconds @param {number} reference what counts as now */
export function whenText(at, reference) {
  const age = reference - at;
  if (Math.abs(age) < MINUTE) return say(WHEN.justNow);
  if (age > 0 && age < 60 * MINUTE) return sayWith(WHEN.minutesAgo, Math.floor(age / MINUTE));
  const timeZone = self.peek()?.timeZone ?? 'UTC';
  const [day, today] = [dateAt(at, timeZone), dateAt(reference, timeZone)];
  const days = Math.round((Date.parse(day) - Date.parse(today)) / DAY);
  const named = WHEN.dayNames[/** @type {0} */ (days)];
  const text = (/** @type {Intl.DateTimeFormatOptions} */ options) =>
    new Intl.DateTimeFormat(isEnglish() ? 'en-GB' : 'zh-CN', { timeZone, ...options }).format(at);
  const clock = text({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  if (named) return sayWith(named, clock);
  const isThisYear = day.slice(0, 4) === today.slice(0, 4);
  const date = text({ month: 'short', day: 'numeric', ...(!isThisYear && { year: 'numeric' }) });
  return `${date} ${clock}`;
}
