/** The failures of a system: groups by problem, and the matters of one group. */

import { Fragment, h } from 'preact';
import { lookAnew, useMoment } from '../../kit/moment.js';
import { Nothing, numberText, Waiting } from '../../kit/parts.js';
import { hrefOf, route, show } from '../../kit/route.js';
import { csvOf, download } from '../../kit/save-csv.js';
import { say, sayWith } from '../../kit/speech.js';
import { WORDS } from '../../kit/words.js';
import { Failure, timeText } from '../../read/answer-parts.js';
import { groupsOf, isOf, NO_FIELD } from '../../read/failure-groups.js';
import { Heading } from '../../read/heading.js';
import { dateAt, windowBody, windowOf } from '../../read/range.js';
import { reasonWords } from '../../read/reasons.js';
import { self } from '../../read/self.js';
import { FAILURES } from '../../send/words.js';
import { FailureGroup } from './group.js';
import { Groups, Problem } from './groups.js';
import { useFailureList } from './list.js';

/** @typedef {import('../../read/shapes').FailedRow} FailedRow */
/** @typedef {ReturnType<typeof useFailureList>} List */

export function Failures() {
  const { params } = route.value;
  const { reason = '', field = '' } = params;
  const zone = self.value?.timeZone;
  const moment = useMoment();
  const window = zone === undefined ? undefined : windowBody(windowOf(params, zone, moment));
  const isAll = params.show === 'all';
  const filter = { ...window, ...(isAll ? { failed: true } : { stillFailed: true }) };
  const found = useFailureList(window && { ...window, ...(!isAll && { stillFailed: true }) });
  const again = () => {
    lookAnew();
    found.again();
  };
  const list = { ...found, again };
  const known = list.rows.filter(({ refusedBatch }) => !refusedBatch);
  const batches = list.refusedBatches;
  const rows = reason ? known.filter((row) => isOf(row, reason, field)) : known;
  return h(
    'section',
    { class: 'failures' },
    h(Heading, {}, reason ? h(Title, { rows, reason, field }) : say(FAILURES.heading)),
    h(Tools, { list, rows, isAll }),
    list.error ? h(Failure, { error: list.error, again: list.again }) : null,
    list.notRecorded > 0 && h('p', { class: 'note' }, sayWith(WORDS.notRecorded, list.notRecorded)),
    batches > 0 &&
      h(
        'p',
        { class: 'note batches' },
        `${sayWith(FAILURES.batches, numberText(batches))} `,
        h('a', { href: hrefOf('pushes', { view: 'failed' }) }, say(FAILURES.showBatches)),
      ),
    h(Count, { list, rows }),
    reason
      ? h(FailureGroup, { key: `${reason} ${field}`, rows, reason, field, list, filter })
      : h(Inbox, { rows, list, isAll }),
  );
}

/** @param {{ rows: readonly FailedRow[], reason: string, field: string }} props */
function Title({ rows, reason, field }) {
  const group = groupsOf(rows).find(
    (it) => it.reason === reason && (it.field ?? NO_FIELD) === field,
  );
  const ofField = field === '' || field === NO_FIELD ? null : field;
  return h(Problem, { reason, field: ofField, message: group?.message ?? null });
}

/** @param {{ list: List, rows: readonly FailedRow[], isAll: boolean }} props */
function Tools({ list, rows, isAll }) {
  const choice = (
    /** @type {boolean} */ all,
    /** @type {import('../../kit/speech.js').Words} */ words,
  ) =>
    h(
      'button',
      {
        type: 'button',
        'aria-pressed': String(all === isAll),
        onClick: () => show({ show: all ? 'all' : '' }),
      },
      say(words),
    );
  return h(
    'div',
    { class: 'filters' },
    route.value.params.reason && h('a', { href: inboxHref() }, `← ${say(FAILURES.back)}`),
    h(
      'div',
      { class: 'views', role: 'group', 'aria-label': say(FAILURES.show) },
      choice(false, FAILURES.still),
      choice(true, FAILURES.all),
    ),
    h('button', { type: 'button', class: 'again', onClick: list.again }, say(FAILURES.again)),
    h(
      'button',
      { type: 'button', class: 'export', disabled: rows.length === 0, onClick: () => save(rows) },
      say(FAILURES.export),
    ),
  );
}

const inboxHref = () => hrefOf('failures', { show: route.value.params.show ?? '' });

/** @param {{ list: List, rows: readonly FailedRow[] }} props */
function Count({ list, rows }) {
  const words = list.isLoading ? FAILURES.loading : FAILURES.loaded;
  const count = numberText(rows.length);
  return h(
    'p',
    { class: 'quiet count', role: 'status' },
    list.isLoading && rows.length === 0 ? say(WORDS.loading) : sayWith(words, count),
    !list.isLoading && list.next !== null
      ? h(
          Fragment,
          {},
          ` · ${say(FAILURES.more)} `,
          h('button', { type: 'button', onClick: list.more }, say(FAILURES.loadMore)),
        )
      : null,
  );
}

/** @param {{ rows: readonly FailedRow[], list: List, isAll: boolean }} props */
function Inbox({ rows, list, isAll }) {
  const refused = h(
    'p',
    { class: 'quiet' },
    `${say(FAILURES.refused)} `,
    h('a', { href: hrefOf('pushes', { view: 'refused' }) }, say(FAILURES.showRefused)),
  );
  if (rows.length === 0) {
    if (list.isLoading) return h(Waiting, {});
    if (list.error || list.next !== null) return refused;
    const text = say(isAll ? FAILURES.nothingAtAll : FAILURES.nothing);
    return h('div', { class: 'inbox empty' }, h(Nothing, { text }), refused);
  }
  return h('div', { class: 'inbox' }, h(Groups, { groups: groupsOf(rows) }), refused);
}

/** @param {readonly FailedRow[]} rows */
function save(rows) {
  const { file } = FAILURES;
  const lines = rows.map((row) => [
    ...[row.externalId ?? '', row.operation, row.clientId, row.idempotencyKey ?? '', row.reason],
    ...[say(reasonWords(row.reason)), row.fields.join(' '), String(row.failures)],
    ...[timeText(row.firstSeen), timeText(row.lastSeen)],
    ...[row.mended ? timeText(row.mended.at) : '', row.mended?.requestId ?? '', row.requestId],
  ]);
  const today = dateAt(Date.now(), self.value?.timeZone ?? 'UTC');
  download(`failures-${today}.csv`, [csvOf([Object.values(file).map(say), ...lines])]);
}
