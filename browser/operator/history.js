/** The last hour: two charts over the same time, with marks, and what the marks mean. */
import { h } from 'preact';
import { say, sayWith } from '../console/kit/speech.js';
import { Card, clockText, numberText, Quiet, spanText, Table, Unknown } from './parts.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').History} Hour */
/** @typedef {import('./shapes').HistoryEvent} HistoryEvent */

/** From the ground up. @type {readonly ('written' | 'unchanged' | 'rejected' | 'failed')[]} */
const KINDS = ['written', 'unchanged', 'rejected', 'failed'];
/** Of a drawing, which is stretched to the width that there is. */
const WIDTH = 600;
const HEIGHT = 100;

/** @param {{ history: Hour }} props */
export const History = ({ history }) =>
  h(
    Card,
    { id: 'history', title: say(WORDS.history) },
    h(Minutes, { history }),
    h(Depth, { history }),
    h('h3', {}, say(WORDS.happened)),
    !history.hasAudit && h(Quiet, { text: say(WORDS.noAudit) }),
    h(Marks, { marks: history.marks }),
  );

/** @param {Hour} history @param {number} at */
const xOf = ({ from, to }, at) =>
  (WIDTH * Math.min(to, Math.max(from, at)) - WIDTH * from) / (to - from);

/** @param {{ history: Hour }} props */
function Minutes({ history }) {
  const { minutes, isCut } = history;
  const title = say(WORDS.perMinute);
  if (!minutes) return h('div', {}, h('h3', {}, title), h(Unknown, { server: 'mongodb' }));
  const sums = minutes.map((minute) => KINDS.reduce((sum, kind) => sum + minute[kind], 0));
  const most = Math.max(...sums);
  const width = WIDTH / minutes.length;
  const head = [say(WORDS.time), ...KINDS.map((kind) => say(WORDS.kinds[kind]))];
  const rows = minutes
    .filter((_, n) => sums[n])
    .map((minute) => ({
      key: minute.at,
      cells: [clockText(minute.at).slice(0, 5), ...KINDS.map((kind) => numberText(minute[kind]))],
    }));
  return h(
    'div',
    { class: 'minutes' },
    h('h3', {}, title),
    isCut && h(Quiet, { text: say(WORDS.cut) }),
    h(
      'ul',
      { class: 'legend' },
      KINDS.map((kind) => h('li', { key: kind, class: kind }, say(WORDS.kinds[kind]))),
      h('li', { class: 'quiet' }, sayWith(WORDS.most, numberText(most))),
    ),
    h(
      Drawing,
      { history, title },
      minutes.map((minute) => {
        let ground = HEIGHT;
        return h(
          'g',
          { key: minute.at },
          KINDS.map((kind) => {
            const height = most > 0 ? (HEIGHT * minute[kind]) / most : 0;
            ground -= height;
            const x = xOf(history, minute.at) + 0.5;
            return (
              height > 0 &&
              h('rect', { key: kind, class: kind, x, y: ground, width: width - 1, height })
            );
          }),
        );
      }),
    ),
    h('details', {}, h('summary', {}, say(WORDS.asTable)), h(Table, { label: title, head, rows })),
  );
}

/** @param {{ history: Hour }} props */
function Depth({ history }) {
  const title = say(WORDS.queueDepth);
  const known = history.queue.flatMap(({ at, waiting }) =>
    waiting === null ? [] : [{ at, waiting }],
  );
  const most = Math.max(0, ...known.map(({ waiting }) => waiting));
  // A line ends where Redis did not tell.
  const lines = /** @type {string[][]} */ ([[]]);
  for (const { at, waiting } of history.queue) {
    if (waiting === null) lines.push([]);
    else
      lines
        .at(-1)
        ?.push(
          `${xOf(history, at).toFixed(1)},${(HEIGHT - (HEIGHT * waiting) / Math.max(1, most)).toFixed(1)}`,
        );
  }
  return h(
    'div',
    { class: 'depth' },
    h('h3', {}, title),
    h(Quiet, { text: sayWith(WORDS.most, numberText(most)) }),
    h(
      Drawing,
      { history, title },
      lines.map(
        (points, at) => points.length > 0 && h('polyline', { key: at, points: points.join(' ') }),
      ),
    ),
  );
}

/** @param {{ history: Hour, title: string, children?: import('preact').ComponentChildren }} props */
const Drawing = ({ history, title, children }) =>
  h(
    'div',
    { class: 'drawing' },
    h(
      'svg',
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': title,
      },
      history.marks.map((mark, at) => h(MarkShape, { key: at, history, mark })),
      children,
    ),
    h(
      'p',
      { class: 'labels quiet', 'aria-hidden': 'true' },
      [0, 0.25, 0.5, 0.75].map((part) => {
        const at = history.from + part * (history.to - history.from);
        return h('span', { key: part }, clockText(at).slice(0, 5));
      }),
    ),
  );

/** @param {{ history: Hour, mark: HistoryEvent }} props */
function MarkShape({ history, mark }) {
  const x = xOf(history, mark.at);
  const end = mark.kind === 'outage' ? xOf(history, mark.until ?? history.to) : x;
  const width = Math.max(2, end - x);
  return h(
    'rect',
    { class: `mark ${mark.kind}`, x: Math.min(x, WIDTH - 2), y: 0, width, height: HEIGHT },
    h('title', {}, markText(mark)),
  );
}

/** @param {{ marks: readonly HistoryEvent[] }} props */
const Marks = ({ marks }) =>
  marks.length === 0
    ? h(Quiet, { text: say(WORDS.nothingHappened) })
    : h(
        'ol',
        { class: 'plain marks' },
        marks
          .toReversed()
          .map((mark, at) =>
            h(
              'li',
              { key: at, class: mark.kind },
              h('span', { class: 'quiet' }, clockText(mark.at)),
              h('bdi', {}, markText(mark)),
            ),
          ),
      );

/** @param {HistoryEvent} mark */
function markText(mark) {
  if (mark.kind === 'audit') {
    const { operator, command, subject, outcome } = mark;
    return `${operator}: ${command}${subject === null ? '' : ` ${subject}`} (${outcome})`;
  }
  if (mark.kind === 'start') {
    const { processes, version } = mark;
    if (processes.length === 1) return sayWith(WORDS.start, processes[0] ?? '', version);
    return sayWith(WORDS.startMany, processes.length, version);
  }
  if (mark.until === null) return sayWith(WORDS.outageLasts, mark.server);
  return sayWith(WORDS.outage, mark.server, spanText(mark.until - mark.at));
}
