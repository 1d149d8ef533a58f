/** The third step: how much was compared, what was not, the kinds of difference, and each difference. */
import { Fragment, h } from 'preact';
import { Nothing, numberText } from '../../kit/parts.js';
import { say, sayWith } from '../../kit/speech.js';
import { columnNames } from './columns.js';
import { isOf, readShare } from './doubts.js';
import { HeatMap } from './heat.js';
import { Differences } from './rows.js';
import { saveReport } from './save.js';
import { Sending } from './sending.js';
import * as state from './state.js';
import { RECONCILE } from './words.js';

/** Maximum problems and columns that are listed. */
const MAX_LISTED = 20;

/** @typedef {import('../../kit/speech.js').Words} Words */

/** @param {Words} words @param {...(string | number)} values */
const note = (words, ...values) => h('p', { class: 'note' }, sayWith(words, ...values));

/** @param {{ result: import('./state.js').Result }} props */
export function Outcome({ result: { source, rows, compared } }) {
  const own = rows.filter(({ matter }) => matter);
  const { unread, total, isComparable } = readShare(source, rows);
  const isPushes = state.opened.value?.form === 'pushes';
  const [read, equal] = [total - unread, compared - own.length];
  const counts = [read, isPushes ? source.lines : total, equal, read - equal, unread];
  const wrong = compared === 0 ? RECONCILE.nothing : !isComparable && RECONCILE.notComparable;
  return h(
    'section',
    { class: 'outcome' },
    h(
      'p',
      { role: 'status', class: 'summary' },
      sayWith(RECONCILE[isPushes ? 'summaryOfPushes' : 'summary'], ...counts.map(numberText)),
    ),
    wrong &&
      h(
        'p',
        { class: 'failure', role: 'alert' },
        sayWith(wrong, numberText(unread), numberText(total)),
      ),
    compared > 0 &&
      own.length === compared &&
      own.every(isOf('MISSING')) &&
      note(RECONCILE.noneHere),
    h(NotCompared, { source }),
    rows.some(isOf('DAMAGED_ID')) && note(RECONCILE.damagedIds),
    rows.some(isOf('LOOK_ALIKE')) && note(RECONCILE.lookAlikes),
    source.serials > 0 && note(RECONCILE.serials, source.serials),
    h(HeatMap, {}),
    rows.length > 0
      ? h(
          Fragment,
          {},
          h(Tiles, { rows }),
          h(Sending, {}),
          h(Differences, {}),
          h(
            'p',
            { class: 'buttons' },
            h(
              'button',
              { type: 'button', id: 'report', onClick: saveReport },
              say(RECONCILE.report),
            ),
          ),
        )
      : !wrong &&
          h(Nothing, { text: say(source.leftOut > 0 ? RECONCILE.equalSoFar : RECONCILE.equal) }),
  );
}

/** @param {{ source: import('./file-rows.js').Source }} props */
function NotCompared({ source }) {
  const { problems, leftOut, unnamed, withoutUpsert, withoutId } = source;
  const more = Math.max(problems.length, leftOut) - MAX_LISTED;
  const unused = columnNames().filter((_, at) => !state.mapping.value[at]);
  return h(
    Fragment,
    {},
    leftOut > 0 &&
      h(
        'div',
        { class: 'note left-out' },
        h('p', {}, sayWith(RECONCILE.leftOut, leftOut)),
        h(
          'ul',
          {},
          problems
            .slice(0, MAX_LISTED)
            .map(({ line, wrong, about }, at) =>
              h('li', { key: at }, sayWith(RECONCILE.problem[wrong], line, about)),
            ),
        ),
        more > 0 && h('p', {}, sayWith(RECONCILE.moreProblems, more)),
        unnamed > 0 && state.options.value.orphans && h('p', {}, say(RECONCILE.unnamed)),
      ),
    unused.length > 0 &&
      h(
        'p',
        { class: 'note' },
        say(RECONCILE.unused),
        h('bdi', {}, unused.slice(0, MAX_LISTED).join(', ')),
      ),
    withoutUpsert > 0 && note(RECONCILE.withoutUpsert, withoutUpsert),
    withoutId > 0 && note(RECONCILE.withoutId, withoutId),
    !state.options.value.orphans && h('p', { class: 'quiet' }, say(RECONCILE.notSearched)),
  );
}

/** @param {{ rows: readonly import('./compare.js').Difference[] }} props */
function Tiles({ rows }) {
  /** @type {Map<string, number>} */
  const counts = new Map([['', rows.length]]);
  for (const { kinds } of rows) {
    for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return h(
    'div',
    { class: 'kinds', role: 'group', 'aria-label': say(RECONCILE.tiles) },
    ['', ...Object.keys(RECONCILE.kinds)]
      .filter((kind) => counts.has(kind))
      .map((kind) =>
        h(
          'button',
          {
            type: 'button',
            key: kind,
            'data-kind': kind,
            'aria-pressed': String(state.shownKind.value === kind),
            onClick: () => {
              state.shownKind.value = kind;
            },
          },
          h('span', { class: 'number' }, numberText(counts.get(kind) ?? 0)),
          h(
            'span',
            {},
            say(kind === '' ? RECONCILE.all : RECONCILE.kinds[/** @type {'MISSING'} */ (kind)]),
          ),
        ),
      ),
  );
}
