/** What failed: an inbox by reason and field, and behind each group its matters. */

import { FailureGroup } from './failure-group.js';
import { groupsOf, isOf, NO_FIELD } from './failure-groups.js';
import { useFailureList } from './failure-list.js';
import { FAILURES } from './failures-words.js';
import { Fragment, h } from './lib/preact.js';
import { lookAnew, useMoment } from './moment.js';
import { Failure, Nothing, numberText, timeText, Waiting } from './parts.js';
import { dateAt, windowBody, windowOf } from './range.js';
import { actFor, reasonWords } from './reasons.js';
import { hrefOf, route, show } from './route.js';
import { csvOf, download } from './save-csv.js';
import { self } from './self.js';
import { say, sayWith } from './speech.js';
import { WORDS } from './words.js';

/** @typedef {import('./failure-groups.js').Group} Group */
/** @typedef {import('./shapes').FailedRow} FailedRow */
/** @typedef {ReturnType<typeof useFailureList>} List */

export function Failures() {
  const { params } = route.value;
  const { reason = '', field = '' } = params;
  const zone = self.value?.timeZone;
  const moment = useMoment();
  const window = zone === undefined ? undefined : windowBody(windowOf(params, zone, moment));
  const isAll = params.show === 'all';
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
    h('h1', {}, reason ? h(Title, { reason, field }) : say(FAILURES.heading)),
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
      ? h(FailureGroup, { key: `${reason} ${field}`, rows, reason, field, list })
      : h(Inbox, { rows, list, isAll }),
  );
}

/** @param {{ reason: string, field: string }} props */
const Title = ({ reason, field }) =>
  h(
    Fragment,
    {},
    say(reasonWords(reason)),
    field && field !== NO_FIELD ? h(Fragment, {}, ' · ', h('code', {}, h('bdi', {}, field))) : null,
  );

/** @param {{ list: List, rows: readonly FailedRow[], isAll: boolean }} props */
function Tools({ list, rows, isAll }) {
  const choice = (/** @type {boolean} */ all, /** @type {import('./speech.js').Words} */ words) =>
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

/** @param {{ groups: readonly Group[] }} props */
const Groups = ({ groups }) =>
  h(
    'table',
    { class: 'groups', 'aria-label': say(FAILURES.groups) },
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        [
          FAILURES.reason,
          FAILURES.field,
          FAILURES.who,
          FAILURES.still,
          FAILURES.matters,
          FAILURES.pushes,
          FAILURES.since,
          FAILURES.last,
        ].map((words) => h('th', { scope: 'col', key: words[0] }, say(words))),
      ),
    ),
    h(
      'tbody',
      {},
      groups.map((group) =>
        h(GroupRow, { key: JSON.stringify([group.reason, group.field]), group }),
      ),
    ),
  );

/** @param {{ group: Group }} props */
function GroupRow({ group }) {
  const { reason, field, stillFailed, matters, pushes, firstSeen, lastSeen } = group;
  const { show: shown = '' } = route.value.params;
  const href = hrefOf('failures', { reason, field: field ?? NO_FIELD, show: shown });
  const cell = (
    /** @type {string} */ name,
    /** @type {import('./speech.js').Words} */ words,
    /** @type {any} */ text,
  ) => h('td', { class: name, 'data-label': say(words) }, text);
  const act = actFor(reason);
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      h('a', { href }, say(reasonWords(reason))),
      h('br', {}),
      h('code', { class: 'quiet' }, reason),
    ),
    cell('field', FAILURES.field, field === null ? '–' : h('code', {}, h('bdi', {}, field))),
    cell('act', FAILURES.who, say(FAILURES.acts[act])),
    cell('number still', FAILURES.still, numberText(stillFailed)),
    cell('number', FAILURES.matters, numberText(matters)),
    cell('number', FAILURES.pushes, numberText(pushes)),
    cell('time', FAILURES.since, timeText(firstSeen)),
    cell('time', FAILURES.last, timeText(lastSeen)),
  );
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
