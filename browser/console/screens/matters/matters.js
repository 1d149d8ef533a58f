/** The matters of the system: a search, and its matches, the last changed first. */

import { Fragment, h } from 'preact';
import { useState } from 'preact/hooks';
import { KINDS, PHASES } from '../../kit/matter-words.js';
import { lookAnew, useMoment } from '../../kit/moment.js';
import { isNarrow } from '../../kit/narrow.js';
import { LookOn, Nothing, numberText, Waiting } from '../../kit/parts.js';
import { hrefOf, route, show } from '../../kit/route.js';
import { say, sayName, sayWith } from '../../kit/speech.js';
import { Table } from '../../kit/table.js';
import { WORDS } from '../../kit/words.js';
import { Failure } from '../../read/answer-parts.js';
import { Heading } from '../../read/heading.js';
import { seesBodies, self } from '../../read/self.js';
import { When } from '../../read/when.js';
import { Choice } from '../pushes/pushes.js';
import { useMatterList } from './list.js';
import { hasRange, MAX_WORDS, questionOf, TEXTS } from './question.js';
import { MAX_MATTERS } from './rows.js';
import { Status } from './status.js';
import { MATTER_WORDS } from './words.js';

/** @typedef {import('./rows.js').MatterRow} MatterRow */
/** @typedef {import('../../kit/speech.js').Words} Words */

const ROW_HEIGHT = 36;
/** Of three lines. */
const NARROW_ROW_HEIGHT = 80;

export function Matters() {
  const { params } = route.value;
  const zone = self.value?.timeZone;
  const moment = useMoment();
  // A link of a colleague may contain a search that the service would reject.
  const allowed = seesBodies() ? params : { ...params, titleContains: '' };
  const list = useMatterList(
    zone ? questionOf(allowed, zone, moment) : undefined,
    (params.words ?? '').trim(),
  );
  const again = () => {
    lookAnew();
    list.again();
  };
  // The boxes show the search of the address, also after a step back.
  const typed = Object.keys(BOXES).map((name) => params[name] ?? '');
  return h(
    'section',
    { class: 'matters' },
    h(Heading, { hasRange: hasRange(params) }, say(WORDS.matters)),
    h(Search, { key: JSON.stringify(typed) }),
    params.words && h('p', { class: 'quiet' }, say(MATTER_WORDS.wordsAbout)),
    list.error ? h(Failure, { error: list.error, again }) : null,
    h(Rows, { list }),
  );
}

/** The text boxes. The service compares all of them except the names. */
const { titleContains, ...OTHERS } = TEXTS;
const BOXES = { titleContains, words: { words: MATTER_WORDS.words, max: MAX_WORDS }, ...OTHERS };
/** A key without access to bodies may not search titles. */
const shownBoxes = () =>
  Object.entries(BOXES).filter(([name]) => name !== 'titleContains' || seesBodies());

function Search() {
  const { params } = route.value;
  const [texts, setTexts] = useState(
    Object.fromEntries(Object.keys(BOXES).map((name) => [name, params[name] ?? ''])),
  );
  const search = (/** @type {Event} */ event) => {
    event.preventDefault();
    show(Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.trim()])));
  };
  return h(
    'form',
    { class: 'search', onSubmit: search },
    shownBoxes().map(([name, { words, max }]) =>
      h(
        'label',
        { key: name },
        say(words),
        h('input', {
          type: 'text',
          name,
          value: texts[name],
          maxLength: max,
          spellcheck: false,
          autocomplete: 'off',
          onInput: (event) => setTexts({ ...texts, [name]: event.currentTarget.value }),
        }),
      ),
    ),
    h(Choices, {}),
    h(
      'p',
      { class: 'buttons' },
      h('button', { type: 'submit', class: 'main' }, say(MATTER_WORDS.search)),
      h('button', { type: 'button', onClick: () => show(NOTHING) }, say(MATTER_WORDS.clear)),
    ),
  );
}

const NOTHING = {
  ...Object.fromEntries(Object.keys(BOXES).map((name) => [name, ''])),
  ...{ matterType: '', phase: '', changed: '' },
};

function Choices() {
  const { matterType = '', phase = '', changed = '' } = route.value.params;
  const optionsOf = (/** @type {Readonly<Record<string, Words>>} */ words) =>
    Object.entries(words).map(([name, text]) => [name, say(text)]);
  return [
    h(Choice, {
      key: 'matterType',
      label: say(MATTER_WORDS.kind),
      value: matterType,
      options: optionsOf(KINDS),
      onChoose: (value) => show({ matterType: value }),
    }),
    h(Choice, {
      key: 'phase',
      label: say(MATTER_WORDS.phase),
      value: phase,
      options: optionsOf(PHASES),
      onChoose: (value) => show({ phase: value }),
    }),
    h(Choice, {
      key: 'changed',
      label: say(MATTER_WORDS.changed),
      value: changed,
      none: say(MATTER_WORDS.anyTime),
      options: [['range', say(MATTER_WORDS.inRange)]],
      onChoose: (value) => show({ changed: value }),
    }),
  ];
}

/** @param {{ list: ReturnType<typeof useMatterList> }} props */
function Rows({ list }) {
  const { rows, cursor, isLoading, isPaused, error } = list;
  if (rows.length === 0 && isLoading) {
    return h('div', {}, h(Waiting, {}), h('p', { class: 'quiet' }, say(WORDS.looking)));
  }
  if (rows.length === 0) {
    if (error) return null;
    return cursor === null
      ? h(
          Nothing,
          { text: say(MATTER_WORDS.noMatters) },
          h('p', {}, say(MATTER_WORDS.noMattersWhy)),
        )
      : h(LookOn, { list, text: searchedText(list) });
  }
  return h(
    'div',
    {},
    h('p', { class: 'quiet', role: 'status' }, countText(list)),
    h(Table, {
      rows,
      rowHeight: isNarrow.value ? NARROW_ROW_HEIGHT : ROW_HEIGHT,
      label: say(WORDS.matters),
      head: [
        { name: 'changed', title: say(MATTER_WORDS.changed) },
        { name: 'id', title: say(MATTER_WORDS.facts.externalId) },
        { name: 'title', title: say(MATTER_WORDS.title) },
        { name: 'kind', title: say(MATTER_WORDS.kind) },
        { name: 'phase', title: say(MATTER_WORDS.phase) },
        { name: 'parties', title: say(MATTER_WORDS.parties) },
      ],
      keyOf: (/** @type {MatterRow} */ row) => row.externalId,
      cells: cellsOf,
      onNearEnd: isPaused ? undefined : list.more,
    }),
    list.isPaused && h(LookOn, { list, text: searchedText(list) }),
  );
}

/** @param {ReturnType<typeof useMatterList>} list */
const searchedText = ({ examined }) => sayWith(MATTER_WORDS.searched, numberText(examined));

/** @param {ReturnType<typeof useMatterList>} list */
function countText({ rows, cursor, isLoading, isPaused }) {
  if (rows.length >= MAX_MATTERS) return sayWith(MATTER_WORDS.tooMany, rows.length);
  const isEnd = cursor === null || isPaused;
  const words = isEnd ? MATTER_WORDS.count : MATTER_WORDS.countMore;
  return `${sayWith(words, rows.length)}${isLoading ? ` – ${say(WORDS.looking)}` : ''}`;
}

/** The row of a matter is a link: its id covers the other cells. @param {MatterRow} row */
const cellsOf = (row) => [
  h(When, { at: row.updatedAt }),
  h(
    'a',
    { class: 'cover', href: hrefOf('matter', { externalId: row.externalId }), title: row.title },
    h('bdi', {}, row.externalId),
  ),
  h('bdi', {}, row.title),
  sayName(KINDS, row.matterType),
  h(Status, { matter: row }),
  h(People, { row }),
];

/** @param {{ row: MatterRow }} props */
function People({ row: { names, parties, unread } }) {
  if (parties === 0) return h('span', { class: 'quiet' }, say(MATTER_WORDS.noPeople));
  const more = parties > names.length ? ` +${parties - names.length}` : '';
  return h(
    Fragment,
    {},
    h('bdi', {}, names.join(', ')),
    more,
    unread > 0 && h('span', { class: 'quiet' }, ` · ${sayWith(MATTER_WORDS.unreadOf, unread)}`),
  );
}
