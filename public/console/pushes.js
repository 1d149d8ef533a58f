/** The pushes of the system: saved views, filters, a search, and what comes in as it comes. */
import { OPERATIONS } from './bodies.js';
import { h } from './lib/preact.js';
import { lookAnew, useMoment } from './moment.js';
import { isNarrow } from './narrow.js';
import {
  Failure,
  LookOn,
  Nothing,
  resultText,
  spanText,
  timeText,
  toneOf,
  Waiting,
} from './parts.js';
import { usePushList } from './push-list.js';
import { MAX_ROWS } from './push-rows.js';
import { reasonWords } from './reasons.js';
import { hrefOf, route, show } from './route.js';
import { self } from './self.js';
import { say, sayWith } from './speech.js';
import { Table } from './table.js';
import { questionsOf, reasonsIn } from './views.js';
import { WORDS } from './words.js';

/** @typedef {import('./push-rows.js').Row} Row */

const ROW_HEIGHT = 36;
/** Of two lines. */
const NARROW_ROW_HEIGHT = 58;

export function Pushes() {
  const { params } = route.value;
  const zone = self.value?.timeZone;
  const isLive = params.live === 'on';
  const moment = useMoment();
  const list = usePushList(zone ? questionsOf(params, zone, moment) : undefined, isLive);
  const again = () => {
    lookAnew();
    list.again();
  };
  return h(
    'section',
    { class: 'pushes' },
    h('h1', {}, say(WORDS.pushes)),
    h(Filters, {}),
    list.notRecorded > 0 && h('p', { class: 'note' }, sayWith(WORDS.notRecorded, list.notRecorded)),
    list.error ? h(Failure, { error: list.error, again }) : null,
    h(Rows, { list }),
  );
}

/** @param {{ list: ReturnType<typeof usePushList> }} props */
function Rows({ list }) {
  const { rows, open, isLoading, isPaused, error } = list;
  if (rows.length === 0) {
    if (isLoading) {
      const isLong = open.some(({ cursor }) => cursor);
      return h('div', {}, h(Waiting, {}), isLong && h('p', { class: 'quiet' }, say(WORDS.looking)));
    }
    if (error) return null;
    return open.length > 0 ? h(LookOn, { list }) : h(Nothing, { text: say(WORDS.noPushes) });
  }
  return h(
    'div',
    {},
    h('p', { class: 'quiet', role: 'status' }, countText(list)),
    h(Table, {
      rows,
      rowHeight: isNarrow.value ? NARROW_ROW_HEIGHT : ROW_HEIGHT,
      label: say(WORDS.pushes),
      head: [
        { name: 'received', title: say(WORDS.received) },
        { name: 'operation', title: say(WORDS.operation) },
        { name: 'matter', title: say(WORDS.matter) },
        { name: 'result', title: say(WORDS.result) },
        { name: 'took', title: say(WORDS.took) },
      ],
      keyOf: (/** @type {Row} */ row) => row.requestId,
      toneOf,
      cells: cellsOf,
      onNearEnd: isPaused ? undefined : list.more,
    }),
    isPaused && h(LookOn, { list }),
  );
}

/** @param {ReturnType<typeof usePushList>} list */
function countText({ rows, open, isLoading }) {
  if (rows.length >= MAX_ROWS) return sayWith(WORDS.tooMany, rows.length);
  const words = open.length > 0 ? WORDS.countMore : WORDS.countShown;
  return `${sayWith(words, rows.length)}${isLoading ? ` – ${say(WORDS.looking)}` : ''}`;
}

/** @param {Row} row */
const cellsOf = (row) => [
  h('a', { href: hrefOf('push', { id: row.requestId }) }, timeText(row.receivedAt)),
  row.operation,
  h('bdi', {}, row.externalId ?? row.idempotencyKey ?? '–'),
  h('span', { class: 'result', title: row.reason ?? row.outcome ?? row.state }, resultText(row)),
  row.settledAt ? spanText(Date.parse(row.settledAt) - Date.parse(row.receivedAt)) : '–',
];

function Filters() {
  const { view = 'all', operation = '', reason = '', live = '' } = route.value.params;
  const reasons = reasonsIn(view);
  return h(
    'div',
    { class: 'filters' },
    h(
      'div',
      { role: 'group', 'aria-label': say(WORDS.views), class: 'views' },
      Object.entries(WORDS.view).map(([name, words]) =>
        h(
          'button',
          {
            type: 'button',
            key: name,
            'aria-pressed': String(name === view),
            onClick: () => show({ view: name === 'all' ? '' : name, reason: '' }),
          },
          say(words),
        ),
      ),
    ),
    h(Choice, {
      label: say(WORDS.operation),
      value: operation,
      options: OPERATIONS.map((name) => [name, name]),
      onChoose: (value) => show({ operation: value }),
    }),
    reasons.length > 1 &&
      h(Choice, {
        label: say(WORDS.reason),
        value: reason,
        options: reasons.map((name) => [name, say(reasonWords(name))]),
        onChoose: (value) => show({ reason: value }),
      }),
    h(
      'label',
      { class: 'check' },
      h('input', {
        type: 'checkbox',
        checked: live === 'on',
        onChange: (event) => show({ live: event.currentTarget.checked ? 'on' : '' }),
      }),
      say(WORDS.live),
    ),
  );
}

/** @param {{ label: string, value: string, none?: string, options: readonly (readonly string[])[], onChoose: (value: string) => void }} props */
export const Choice = ({ label, value, none = say(WORDS.any), options, onChoose }) =>
  h(
    'label',
    {},
    label,
    h(
      'select',
      { value, onChange: (/** @type {any} */ event) => onChoose(event.currentTarget.value) },
      h('option', { value: '' }, none),
      options.map(([name, text]) => h('option', { value: name, key: name }, text)),
    ),
  );
