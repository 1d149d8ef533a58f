/** Pushes over time by outcome: bars, and the same as a table. */
import { h } from './lib/preact.js';
import { barsOf } from './overview-sums.js';
import { OVERVIEW } from './overview-words.js';
import { numberText, timeText } from './parts.js';
import { isEnglish, say, sayWith } from './speech.js';

/** @typedef {import('./overview-sums.js').Bar} Bar */
/** @typedef {import('./shapes-stats').Stats} Stats */

/** From the ground up. @type {readonly ('written' | 'unchanged' | 'failed')[]} */
const KINDS = ['written', 'unchanged', 'failed'];
/** Of the drawing, which is stretched to the width that there is. */
const HEIGHT = 100;
const STEP = 10;
const BAR = 8;
/** Labels below it. */
const MOST_LABELS = 5;

/** @param {{ stats: Stats }} props */
export function Chart({ stats }) {
  const bars = barsOf(stats);
  const most = Math.max(...bars.map(sumOf));
  const title = say(stats.by === 'day' ? OVERVIEW.perDay : OVERVIEW.perHour);
  return h(
    'section',
    { class: 'card chart', 'aria-label': title },
    h('h2', {}, title),
    !stats.complete && h('p', { class: 'note' }, sayWith(OVERVIEW.cut, timeText(stats.from))),
    h(Legend, { most }),
    h(Bars, { bars, most, title, by: stats.by }),
    h(
      'details',
      {},
      h('summary', {}, say(OVERVIEW.asTable)),
      h(AsTable, { bars, by: stats.by, title }),
    ),
  );
}

const sumOf = (/** @type {Bar} */ { written, unchanged, failed }) => written + unchanged + failed;

/** @param {{ most: number }} props */
const Legend = ({ most }) =>
  h(
    'ul',
    { class: 'legend' },
    KINDS.map((kind) => h('li', { key: kind, class: kind }, say(OVERVIEW.kinds[kind]))),
    h('li', { class: 'quiet' }, sayWith(OVERVIEW.most, numberText(most))),
  );

/** @param {{ bars: readonly Bar[], most: number, title: string, by: Stats['by'] }} props */
function Bars({ bars, most, title, by }) {
  const every = Math.ceil(bars.length / MOST_LABELS);
  const drawn = {
    viewBox: `0 0 ${bars.length * STEP} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': title,
  };
  return h(
    'div',
    { class: 'bars' },
    h(
      'svg',
      drawn,
      bars.map((bar, at) => h(Column, { key: bar.start, bar, at, most, by })),
    ),
    h(
      'p',
      { class: 'labels quiet', 'aria-hidden': 'true' },
      bars
        .filter((_, at) => at % every === 0)
        .map(({ start }, at) => {
          // As wide as the bars that it stands below.
          const flexGrow = Math.min(every, bars.length - at * every);
          return h('span', { key: start, style: { flexGrow } }, labelText(start, by, bars.length));
        }),
    ),
  );
}

/** @param {{ bar: Bar, at: number, most: number, by: Stats['by'] }} props */
function Column({ bar, at, most, by }) {
  let ground = HEIGHT;
  const words = KINDS.map((kind) => `${say(OVERVIEW.kinds[kind])} ${numberText(bar[kind])}`);
  return h(
    'g',
    {},
    h('title', {}, `${startText(bar.start, by)}: ${words.join(', ')}`),
    // So that a pointer finds its words also where the bar is low.
    h('rect', { class: 'column', x: at * STEP, y: 0, width: STEP, height: HEIGHT }),
    KINDS.map((kind) => {
      const height = most > 0 ? (HEIGHT * bar[kind]) / most : 0;
      ground -= height;
      return h('rect', { key: kind, class: kind, x: at * STEP + 1, y: ground, width: BAR, height });
    }),
  );
}

/** @param {{ bars: readonly Bar[], by: Stats['by'], title: string }} props */
const AsTable = ({ bars, by, title }) =>
  h(
    'div',
    { class: 'plain-table', tabIndex: 0, role: 'region', 'aria-label': title },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, say(OVERVIEW.time)),
          KINDS.map((kind) => h('th', { key: kind, scope: 'col' }, say(OVERVIEW.kinds[kind]))),
        ),
      ),
      h(
        'tbody',
        {},
        bars.map((bar) =>
          h(
            'tr',
            { key: bar.start },
            h('th', { scope: 'row' }, startText(bar.start, by)),
            KINDS.map((kind) => h('td', { key: kind }, numberText(bar[kind]))),
          ),
        ),
      ),
    ),
  );

/** Within one day the hour is enough. @param {number} at @param {Stats['by']} by @param {number} bars */
const labelText = (at, by, bars) =>
  by === 'hour' && bars <= 24 ? startText(at, by).slice(-5) : startText(at, by);

/** Where an hour or a day begins. @param {number} at local, as if it were UTC @param {Stats['by']} by */
function startText(at, by) {
  const hour = by === 'day' ? {} : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
  const options = { timeZone: 'UTC', month: '2-digit', day: '2-digit' };
  const language = isEnglish() ? 'en-GB' : 'zh-CN';
  return new Intl.DateTimeFormat(language, /** @type {any} */ ({ ...options, ...hour })).format(at);
}
