/** Pushes over time by outcome, as bars and as a table. */
import { h } from 'preact';
import { numberText } from '../../kit/parts.js';
import { isEnglish, say, sayWith } from '../../kit/speech.js';
import { timeText } from '../../read/answer-parts.js';
import { axisOf, barsOf } from './sums.js';
import { OVERVIEW } from './words.js';

/** @typedef {import('./sums.js').Bar} Bar */
/** @typedef {import('../../read/shapes-stats').Stats} Stats */

/** From bottom to top. @type {readonly ('written' | 'unchanged' | 'failed')[]} */
const KINDS = ['written', 'unchanged', 'failed'];
/** Sizes of the drawing, which the browser stretches to the available width. */
const HEIGHT = 100;
const STEP = 10;
const BAR = 8;
/** Labels below the bars, at most. */
const MOST_LABELS = 5;

/** @param {{ stats: Stats }} props */
export function Chart({ stats }) {
  const bars = barsOf(stats);
  const marks = axisOf(Math.max(...bars.map(sumOf)));
  const title = say(stats.by === 'day' ? OVERVIEW.perDay : OVERVIEW.perHour);
  return h(
    'section',
    { class: 'card chart', 'aria-label': title },
    h('h2', {}, title),
    !stats.complete && h('p', { class: 'note' }, sayWith(OVERVIEW.cut, timeText(stats.from))),
    h(Legend, {}),
    h(Bars, { bars, marks, title, by: stats.by }),
    h(
      'details',
      {},
      h('summary', {}, say(OVERVIEW.asTable)),
      h(AsTable, { bars, by: stats.by, title }),
    ),
  );
}

const sumOf = (/** @type {Bar} */ { written, unchanged, failed }) => written + unchanged + failed;

const Legend = () =>
  h(
    'ul',
    { class: 'legend' },
    KINDS.map((kind) => h('li', { key: kind, class: kind }, say(OVERVIEW.kinds[kind]))),
  );

/** @param {{ bars: readonly Bar[], marks: readonly number[], title: string, by: Stats['by'] }} props */
function Bars({ bars, marks, title, by }) {
  const every = Math.ceil(bars.length / MOST_LABELS);
  const width = bars.length * STEP;
  const top = marks.at(-1) ?? 1;
  const drawn = {
    viewBox: `0 0 ${width} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': title,
  };
  return h(
    'div',
    { class: 'bars with-axis' },
    h(
      'div',
      { class: 'axis quiet', 'aria-hidden': 'true' },
      marks.toReversed().map((mark) => h('span', { key: mark }, numberText(mark))),
    ),
    h(
      'svg',
      drawn,
      marks.slice(1).map((mark) => {
        const y = HEIGHT - (HEIGHT * mark) / top;
        return h('line', { key: mark, class: 'grid', x1: 0, x2: width, y1: y, y2: y });
      }),
      bars.map((bar, at) => h(Column, { key: bar.start, bar, at, top, by })),
    ),
    h(
      'p',
      { class: 'labels quiet', 'aria-hidden': 'true' },
      bars
        .filter((_, at) => at % every === 0)
        .map(({ start }, at) => {
          // A label is as wide as its bars.
          const flexGrow = Math.min(every, bars.length - at * every);
          return h('span', { key: start, style: { flexGrow } }, labelText(start, by, bars.length));
        }),
    ),
  );
}

/** @param {{ bar: Bar, at: number, top: number, by: Stats['by'] }} props */
function Column({ bar, at, top, by }) {
  let ground = HEIGHT;
  const words = KINDS.map((kind) => `${say(OVERVIEW.kinds[kind])} ${numberText(bar[kind])}`);
  return h(
    'g',
    {},
    h('title', {}, `${startText(bar.start, by)}: ${words.join(', ')}`),
    // The pointer finds the words above a low bar too.
    h('rect', { class: 'column', x: at * STEP, y: 0, width: STEP, height: HEIGHT }),
    KINDS.map((kind) => {
      const height = (HEIGHT * bar[kind]) / top;
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

/** The start of an hour or a day. @param {number} at local, as if it were UTC @param {Stats['by']} by */
function startText(at, by) {
  const hour = by === 'day' ? {} : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
  const options = { timeZone: 'UTC', month: '2-digit', day: '2-digit' };
  const language = isEnglish() ? 'en-GB' : 'zh-CN';
  return new Intl.DateTimeFormat(language, /** @type {any} */ ({ ...options, ...hour })).format(at);
}
