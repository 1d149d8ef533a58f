/** One push: its problem, its timeline, its changes, its body, and the other pushes of its matter. */

import { h } from 'preact';
import { useEffect } from 'preact/hooks';
import { Fields, Nothing, spanText, Verbatim, Waiting } from '../../kit/parts.js';
import { goInstead, hrefOf, route } from '../../kit/route.js';
import { say } from '../../kit/speech.js';
import { WORDS } from '../../kit/words.js';
import { Failure, resultText, timeText, toneOf } from '../../read/answer-parts.js';
import { ChangeItems } from '../../read/change-items.js';
import { useAsk } from '../../read/load.js';
import { seesBodies } from '../../read/self.js';
import { isRequestId } from '../../read/views.js';
import { Fix } from './fix.js';
import { Body, Facts } from './technical.js';
import { PUSH } from './words.js';

/** @typedef {import('../../read/shapes').Entry} Entry */

const OTHERS = 50;

export function Push() {
  const { id = '', q = '' } = route.value.params;
  // The diagnosis comes with the one entry alone; its body too, if it is kept.
  const isId = isRequestId(id);
  const body = seesBodies() && { includeBody: true };
  const question = isId ? { requestId: id.toLowerCase(), ...body } : undefined;
  const { data, error, isLoading, again } = useAsk('push-logs/query', question);
  if (!isId) return h('section', {}, heading(id), h(Nothing, { text: say(PUSH.noPushId) }));
  if (error) return h(Failure, { error, again });
  if (!data) return isLoading ? h(Waiting, {}) : null;
  const [entry] = /** @type {readonly Entry[]} */ (data.entries);
  if (!entry && q) return h(SearchOn, { q });
  if (!entry) return h('section', {}, heading(id), h(Nothing, { text: say(PUSH.noPush) }));
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
    h(Told, { entry }),
    h(Diagnosis, { entry }),
    h(Fix, { entry, onSent: again }),
    h(Timeline, { entry }),
    h(Changes, { entry }),
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
    { words: PUSH.stages.admitted, from: receivedAt, to: queuedAt ?? settledAt },
    { words: PUSH.stages.waited, from: queuedAt, to: startedAt ?? settledAt },
    { words: PUSH.stages.written, from: startedAt, to: settledAt },
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
    h('h2', {}, say(PUSH.timeline)),
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
    h('h2', {}, say(reason ? PUSH.problem : PUSH.answer)),
    h('p', {}, h('code', {}, reason ?? outcome ?? entry.state), ` – ${resultText(entry)}`),
    stale &&
      h('p', {}, `${say(PUSH.fields.stale)}: ${timeText(stale.sent)} < ${timeText(stale.stored)}`),
    h(Fields, { title: say(PUSH.problems), fields: problems }),
    h(Fields, { title: say(PUSH.warnings), fields: warnings }),
  );
}

/** @param {{ entry: Entry }} props */
function Diagnosis({ entry: { reason, diagnosis } }) {
  if (reason !== 'SIGNATURE_MISMATCH' && reason !== 'TIMESTAMP_OUT_OF_WINDOW') return null;
  return h(
    'div',
    { class: 'card' },
    h('h2', {}, say(PUSH.diagnosis)),
    !diagnosis && h('p', {}, say(PUSH.diagnosisLater)),
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
              h('h3', {}, say(PUSH.sent)),
              h(Verbatim, { text: difference.sent, label: say(PUSH.sent) }),
            ),
            h(
              'div',
              {},
              h('h3', {}, say(PUSH.signed)),
              h(Verbatim, { text: difference.signed, label: say(PUSH.signed) }),
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
    : h('div', { class: 'card' }, h('h2', {}, say(PUSH.changes)), h(ChangeItems, { changes }));

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
    h('h2', {}, say(PUSH.others)),
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
