/** One push: its way in time, what its caller was told, what it changed, its body, and the ones beside it. */

import { OPERATIONS, prettyOf } from './bodies.js';
import { ChangeItems } from './change-items.js';
import { commandOf } from './curl.js';
import { useEffect, useState } from './lib/hooks.js';
import { Fragment, h } from './lib/preact.js';
import { useAsk } from './load.js';
import { Mend } from './mend.js';
import {
  Copy,
  Failure,
  Fields,
  Nothing,
  resultText,
  spanText,
  timeText,
  toneOf,
  Verbatim,
  Waiting,
} from './parts.js';
import { goInstead, hrefOf, route } from './route.js';
import { say } from './speech.js';
import { isRequestId } from './views.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').Entry} Entry */

const OTHERS = 50;

export function Push() {
  const { id = '', q = '' } = route.value.params;
  // The diagnosis comes with the one entry alone; its body too, if it is kept.
  const isId = isRequestId(id);
  const question = isId ? { requestId: id.toLowerCase(), includeBody: true } : undefined;
  const { data, error, isLoading, again } = useAsk('push-logs/query', question);
  if (!isId) return h('section', {}, heading(id), h(Nothing, { text: say(WORDS.noPushId) }));
  if (error) return h(Failure, { error, again });
  if (!data) return isLoading ? h(Waiting, {}) : null;
  const [entry] = /** @type {readonly Entry[]} */ (data.entries);
  if (!entry && q) return h(SearchOn, { q });
  if (!entry) return h('section', {}, heading(id), h(Nothing, { text: say(WORDS.noPush) }));
  return h(
    'section',
    { class: 'push', key: entry.requestId },
    heading(entry.externalId ?? id, entry.externalId),
    h(
      'p',
      { class: `verdict ${toneOf(entry)}` },
      h('strong', {}, resultText(entry)),
      ` · ${entry.operation} · ${timeText(entry.receivedAt, true)}`,
    ),
    h(Timeline, { entry }),
    h(Told, { entry }),
    h(Diagnosis, { entry }),
    h(Changes, { entry }),
    h(Mend, { entry, onSent: again }),
    h(Body, { entry }),
    h(Facts, { entry }),
    h(Others, { entry }),
  );
}

/** What was typed in names no push: it may name a matter or a key. @param {{ q: string }} props */
function SearchOn({ q }) {
  useEffect(() => goInstead('pushes', { q }), [q]);
  return h(Waiting, {});
}

/** @param {string} name @param {string | null} [externalId] of the matter that the name leads to */
function heading(name, externalId = null) {
  const shown = h('bdi', { class: 'quiet' }, name);
  const href = externalId === null ? undefined : hrefOf('matter', { externalId });
  return h('h1', {}, `${say(WORDS.push)} `, href ? h('a', { href }, shown) : shown);
}

/** The stages that took it there. @param {Entry} entry */
function stagesOf({ receivedAt, queuedAt, startedAt, settledAt }) {
  const end = settledAt ?? startedAt ?? queuedAt;
  const parts = [
    { words: WORDS.stages.admitted, from: receivedAt, to: queuedAt ?? settledAt },
    { words: WORDS.stages.waited, from: queuedAt, to: startedAt ?? settledAt },
    { words: WORDS.stages.written, from: startedAt, to: settledAt },
  ];
  const whole = end ? Math.max(1, Date.parse(end) - Date.parse(receivedAt)) : 1;
  return parts.flatMap(({ words, from, to }) => {
    if (!from || !to) return [];
    // Two clocks tell these times: what comes out below nothing is nothing.
    const start = Math.max(0, Date.parse(from) - Date.parse(receivedAt));
    const took = Math.max(0, Date.parse(to) - Date.parse(from));
    return [
      { words, took, left: (100 * start) / whole, width: Math.max(0.5, (100 * took) / whole) },
    ];
  });
}

/** @param {{ entry: Entry }} props */
const Timeline = ({ entry }) =>
  h(
    'div',
    { class: 'card' },
    h('h2', {}, say(WORDS.timeline)),
    h(
      'ol',
      { class: 'timeline' },
      stagesOf(entry).map(({ words, took, left, width }) =>
        h(
          'li',
          { key: words[0] },
          h('span', { class: 'name' }, say(words)),
          h(
            'span',
            { class: 'track' },
            h('span', { class: 'bar', style: { left: `${left}%`, width: `${width}%` } }),
          ),
          h('span', { class: 'took' }, spanText(took)),
        ),
      ),
    ),
  );

/** @param {{ entry: Entry }} props */
function Told({ entry }) {
  const { problems, warnings, reason, outcome, stale } = entry;
  return h(
    'div',
    { class: 'card' },
    h('h2', {}, say(WORDS.answer)),
    h('p', {}, h('code', {}, reason ?? outcome ?? entry.state), ` – ${resultText(entry)}`),
    stale &&
      h('p', {}, `${say(WORDS.fields.stale)}: ${timeText(stale.sent)} < ${timeText(stale.stored)}`),
    h(Fields, { title: say(WORDS.problems), fields: problems }),
    h(Fields, { title: say(WORDS.warnings), fields: warnings }),
  );
}

/** @param {{ entry: Entry }} props */
function Diagnosis({ entry: { reason, diagnosis } }) {
  if (reason !== 'SIGNATURE_MISMATCH' && reason !== 'TIMESTAMP_OUT_OF_WINDOW') return null;
  return h(
    'div',
    { class: 'card' },
    h('h2', {}, say(WORDS.diagnosis)),
    !diagnosis && h('p', {}, say(WORDS.diagnosisLater)),
    diagnosis?.findings.map(({ cause, explanation, fix, difference }) =>
      h(
        'div',
        { key: cause },
        h('p', {}, h('strong', {}, explanation)),
        h('p', {}, fix),
        difference &&
          h(
            'div',
            { class: 'beside' },
            h(
              'div',
              {},
              h('h3', {}, say(WORDS.sent)),
              h(Verbatim, { text: difference.sent, label: say(WORDS.sent) }),
            ),
            h(
              'div',
              {},
              h('h3', {}, say(WORDS.signed)),
              h(Verbatim, { text: difference.signed, label: say(WORDS.signed) }),
            ),
          ),
      ),
    ),
  );
}

/** @param {{ entry: Entry }} props */
const Changes = ({ entry: { changes, state } }) =>
  state !== 'PERSISTED'
    ? null
    : h('div', { class: 'card' }, h('h2', {}, say(WORDS.changes)), h(ChangeItems, { changes }));

/** @param {{ entry: Entry }} props */
function Body({ entry }) {
  const [isRaw, setRaw] = useState(false);
  const { body } = entry;
  if (body === null || body === undefined) {
    return h('div', { class: 'card' }, h('h2', {}, say(WORDS.body)), h('p', {}, say(WORDS.noBody)));
  }
  const url = new URL(`api/open/matters/${entry.operation}`, new URL('.', location.href)).href;
  const { clientId, idempotencyKey } = entry;
  return h(
    'div',
    { class: 'card' },
    h('h2', {}, say(WORDS.body)),
    h(
      'p',
      { class: 'buttons' },
      h(
        'button',
        { type: 'button', 'aria-pressed': String(!isRaw), onClick: () => setRaw(false) },
        say(WORDS.pretty),
      ),
      h(
        'button',
        { type: 'button', 'aria-pressed': String(isRaw), onClick: () => setRaw(true) },
        say(WORDS.raw),
      ),
      h(Copy, { text: body, label: say(WORDS.copy) }),
      OPERATIONS.includes(entry.operation) &&
        h(
          Fragment,
          {},
          h(Copy, {
            text: commandOf({ url, clientId, body, idempotencyKey }),
            label: say(WORDS.copyCurl),
          }),
          h('span', { class: 'quiet' }, say(WORDS.copyCurlAbout)),
        ),
    ),
    h(Verbatim, { text: isRaw ? body : prettyOf(body), label: say(WORDS.body) }),
  );
}

/** @param {{ entry: Entry }} props */
function Facts({ entry }) {
  const links = ['duplicateOf', 'resentFrom'];
  const rows = Object.entries(WORDS.fields).flatMap(([name, words]) => {
    const value = entry[/** @type {'requestId'} */ (name)];
    if (value === null || value === undefined || name === 'stale') return [];
    const shown = links.includes(name)
      ? h('a', { href: hrefOf('push', { id: value }) }, value)
      : String(value);
    return [h(Fragment, { key: name }, h('dt', {}, say(words)), h('dd', {}, shown))];
  });
  return h('dl', { class: 'card facts' }, rows);
}

/** @param {{ entry: Entry }} props */
function Others({ entry: { requestId, externalId, idempotencyKey } }) {
  const subject = externalId ? { externalId } : idempotencyKey ? { idempotencyKey } : undefined;
  const { data, error, again } = useAsk(
    'push-logs/query',
    subject && { ...subject, limit: OTHERS },
  );
  if (!subject) return null;
  const others = /** @type {readonly Entry[]} */ (data?.entries ?? []).filter(
    (other) => other.requestId !== requestId,
  );
  return h(
    'div',
    { class: 'card' },
    h('h2', {}, say(WORDS.others)),
    error ? h(Failure, { error, again }) : null,
    data && others.length === 0 && h('p', {}, say(WORDS.none)),
    h(
      'ul',
      { class: 'others' },
      others.map((other) =>
        h(
          'li',
          { key: other.requestId, class: toneOf(other) },
          h('a', { href: hrefOf('push', { id: other.requestId }) }, timeText(other.receivedAt)),
          ` ${other.operation} `,
          h('span', { class: 'result' }, resultText(other)),
        ),
      ),
    ),
  );
}
