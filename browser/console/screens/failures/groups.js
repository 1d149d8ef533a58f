/** Failed matters in groups, named by what is wrong. */

import { Fragment, h } from 'preact';
import { numberText } from '../../kit/parts.js';
import { hrefOf, route } from '../../kit/route.js';
import { say } from '../../kit/speech.js';
import { timeText } from '../../read/answer-parts.js';
import { NO_FIELD } from '../../read/failure-groups.js';
import { actFor, reasonWords } from '../../read/reasons.js';
import { self } from '../../read/self.js';
import { FAILURES } from '../../send/words.js';

/** @typedef {import('../../read/failure-groups.js').Group} Group */

/** A pause that has ended needs no operator. @param {string} reason */
export const nextStepFor = (reason) =>
  reason === 'CLIENT_PAUSED' && self.value?.paused === null ? 'again' : actFor(reason);

/** "title must not be blank". Without a common message: the reason and the field. @param {Pick<Group, 'reason' | 'field' | 'message'>} props */
export function Problem({ reason, field, message }) {
  const name = field !== null && h('code', {}, h('bdi', {}, field));
  if (message !== null) return h(Fragment, {}, name, ' ', h('bdi', {}, message));
  return h(Fragment, {}, say(reasonWords(reason)), name && ' · ', name);
}

/** @param {{ groups: readonly Group[] }} props */
export const Groups = ({ groups }) =>
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
  const { reason, field, message, stillFailed, matters, pushes, firstSeen, lastSeen } = group;
  const { show: shown = '' } = route.value.params;
  const href = hrefOf('failures', { reason, field: field ?? NO_FIELD, show: shown });
  const cell = (
    /** @type {string} */ name,
    /** @type {import('../../kit/speech.js').Words} */ words,
    /** @type {any} */ text,
  ) => h('td', { class: name, 'data-label': say(words) }, text);
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      h('a', { href }, h(Problem, { reason, field, message })),
      h('br', {}),
      h('code', { class: 'quiet' }, reason),
    ),
    cell('act', FAILURES.who, say(FAILURES.acts[nextStepFor(reason)])),
    cell('number still', FAILURES.still, numberText(stillFailed)),
    cell('number', FAILURES.matters, numberText(matters)),
    cell('number', FAILURES.pushes, numberText(pushes)),
    cell('time', FAILURES.since, timeText(firstSeen)),
    cell('time', FAILURES.last, timeText(lastSeen)),
  );
}
