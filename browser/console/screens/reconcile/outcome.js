/** What came out: in numbers, by kinds, and row by row; ticked rows are tried, sent, and looked at again. */
import { Fragment, h } from 'preact';
import { Nothing, numberText } from '../../kit/parts.js';
import { say, sayWith } from '../../kit/speech.js';
import { readShare } from './doubts.js';
import { Differences } from './rows.js';
import { saveReport } from './save.js';
import { Sending } from './sending.js';
import * as state from './state.js';
import { RECONCILE } from './words.js';

/** Problems that are written out. */
const MAX_PROBLEMS = 20;

/** @param {{ result: import('./state.js').Result }} props */
export function Outcome({ result }) {
  const { source, rows, compared } = result;
  const own = rows.filter(({ matter }) => matter);
  const { unread, total, isComparable } = readShare(source, rows);
  const isStrange = own.length > 0 && own.length === compared && own.every(isMissing);
  return h(
    'section',
    { class: 'outcome', 'aria-label': say(RECONCILE.result) },
    !isComparable &&
      compared > 0 &&
      h(
        'p',
        { class: 'failure', role: 'alert' },
        sayWith(RECONCILE.notComparable, numberText(unread), numberText(total)),
      ),
    compared > 0
      ? h(
          'p',
          { role: 'status', class: 'summary' },
          sayWith(
            RECONCILE.summary,
            ...[compared, compared - own.length, own.length].map((it) => numberText(it)),
          ),
        )
      : h('p', { class: 'failure', role: 'alert' }, say(RECONCILE.wrongFile.nothing)),
    isStrange && h('p', { class: 'note' }, say(RECONCILE.noneHere)),
    h(LeftOut, { source }),
    hasKind(rows, 'DAMAGED_ID') && h('p', { class: 'note' }, say(RECONCILE.damagedIds)),
    hasKind(rows, 'LOOK_ALIKE') && h('p', { class: 'note' }, say(RECONCILE.lookAlikes)),
    source.serials > 0 && h('p', { class: 'note' }, sayWith(RECONCILE.serials, source.serials)),
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
      : compared > 0 &&
          isComparable &&
          h(Nothing, { text: say(source.leftOut > 0 ? RECONCILE.equalSoFar : RECONCILE.equal) }),
  );
}

/** @param {readonly import('./compare.js').Difference[]} rows @param {string} kind */
const hasKind = (rows, kind) => rows.some(({ kinds }) => kinds.some((it) => it === kind));

/** @param {import('./compare.js').Difference} row */
const isMissing = ({ kinds }) => kinds.some((it) => it === 'MISSING');

/** @param {{ source: import('./file-rows.js').Source }} props */
function LeftOut({ source }) {
  const { problems, leftOut, unnamed, withoutUpsert, withoutId } = source;
  const more = Math.max(problems.length, leftOut) - MAX_PROBLEMS;
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
            .slice(0, MAX_PROBLEMS)
            .map(({ line, wrong, about }, at) =>
              h('li', { key: at }, sayWith(RECONCILE.problem[wrong], line, about)),
            ),
        ),
        more > 0 && h('p', {}, sayWith(RECONCILE.moreProblems, more)),
        unnamed > 0 && state.options.value.orphans && h('p', {}, say(RECONCILE.unnamed)),
      ),
    withoutUpsert > 0 && h('p', { class: 'note' }, sayWith(RECONCILE.withoutUpsert, withoutUpsert)),
    withoutId > 0 && h('p', { class: 'note' }, sayWith(RECONCILE.withoutId, withoutId)),
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
