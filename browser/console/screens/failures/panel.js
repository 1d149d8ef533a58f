/** The resend of the selected matters: preview, progress, result. */

import { h } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { numberText } from '../../kit/parts.js';
import { say, sayWith } from '../../kit/speech.js';
import { WORDS } from '../../kit/words.js';
import { Failure } from '../../read/answer-parts.js';
import { reasonWords } from '../../read/reasons.js';
import { FAILURES } from '../../send/words.js';

/** @typedef {ReturnType<typeof import('../../send/use-resend.js').useResend>} Resend */
/** @typedef {import('../../send/plan.js').PlannedMatter} PlannedMatter */
/** @typedef {import('../../send/plan.js').MatterState} MatterState */
/** @typedef {import('../../send/resend.js').Scalar} Scalar */

/**
 * @param {{ work: Resend, again: () => void, field: string, invalid: readonly Scalar[] }} props `invalid`: the different
 *   values of the field in the selected matters
 */
export function ResendPanel({ work, again, field, invalid }) {
  const { state, reset } = work;
  const { phase, isOutdated, error } = state;
  const panel = useRef(/** @type {HTMLDivElement | null} */ (null));
  // The button that had the focus may be gone: the focus moves to the panel, where Escape closes the preview.
  useEffect(() => {
    if (document.activeElement === document.body) panel.current?.focus({ preventScroll: true });
  }, [phase]);
  if (phase === 'idle') {
    if (error) return h(Failure, { error });
    return isOutdated ? h('p', { class: 'note', role: 'status' }, say(FAILURES.outdated)) : null;
  }
  const done = () => {
    reset();
    again();
  };
  return h(
    'div',
    { class: 'card work', tabIndex: -1, ref: panel },
    phase === 'planning' && h(Planning, { work }),
    phase === 'planned' && h(Preview, { work, field, invalid }),
    (phase === 'sending' || phase === 'over') && h(Progress, { work }),
    phase === 'over' && error ? h(Failure, { error }) : null,
    phase === 'over' && h(Over, { work, done }),
  );
}

/** @param {{ work: Resend }} props */
function Planning({ work: { state, cancel } }) {
  const { phase = 'reading', done = 0, all = 0 } = state.progress ?? {};
  return h(
    'p',
    { class: 'buttons', role: 'status' },
    sayWith(FAILURES[phase], numberText(done), numberText(all)),
    h('button', { type: 'button', onClick: cancel }, say(FAILURES.cancel)),
  );
}

/** @type {MatterState[]} */
const NOT_SENT = ['resolved', 'waiting', 'foreign', 'unsigned', 'bodyless', 'rejected'];

/** @param {{ work: Resend, field: string, invalid: readonly Scalar[] }} props */
function Preview({ work, field, invalid }) {
  const { matters, all, set } = work.state;
  const sent = matters.filter(({ state }) => state === 'send').length;
  return h(
    'div',
    { role: 'status' },
    h('h2', {}, say(FAILURES.plans)),
    h(
      'ul',
      { class: 'plan' },
      h(
        'li',
        {},
        all > 0
          ? sayWith(FAILURES.willSend, numberText(all), numberText(sent))
          : say(FAILURES.nothingToSend),
      ),
      all > 0 &&
        set.map((it) =>
          h(
            'li',
            { key: `${it.field} ${it.from}`, class: 'value' },
            setText(it),
            it.field === field &&
              it.from === undefined &&
              invalid.length > 1 &&
              ` ${sayWith(FAILURES.replaces, numberText(invalid.length), shortListOf(invalid))}`,
          ),
        ),
      notSentIn(matters),
    ),
    h(
      'p',
      { class: 'buttons' },
      all > 0 &&
        h(
          'button',
          { type: 'button', id: 'send', class: 'main', onClick: () => void work.resend() },
          sayWith(FAILURES.send, numberText(all)),
        ),
      h('button', { type: 'button', onClick: work.reset }, say(FAILURES.cancel)),
    ),
  );
}

/** @param {import('../../send/resend.js').FieldValue} it */
function setText({ field, from, value }) {
  if (value === undefined) {
    return from === undefined
      ? sayWith(FAILURES.willRemove, field)
      : sayWith(FAILURES.willRemoveFrom, field, String(from));
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return from === undefined
    ? sayWith(FAILURES.willSet, field, text)
    : sayWith(FAILURES.willSetFrom, field, String(from), text);
}

/** Values of the preview. A group may have many of them. */
const MAX_LISTED = 10;

/** @param {readonly Scalar[]} values */
const shortListOf = (values) =>
  values.slice(0, MAX_LISTED).join(', ') + (values.length > MAX_LISTED ? ', …' : '');

/** @param {readonly PlannedMatter[]} matters */
const notSentIn = (matters) =>
  NOT_SENT.map((name) => ({ name, count: matters.filter(({ state }) => state === name).length }))
    .filter(({ count }) => count > 0)
    .map(({ name, count }) =>
      h('li', { key: name, class: name }, `${numberText(count)} ${say(FAILURES.states[name])}`),
    );

/** @param {{ work: Resend }} props */
function Progress({ work: { state, cancel } }) {
  const { phase, all, counts, wait, isStopping } = state;
  const { resent, failed, resolved } = counts;
  const isOver = phase === 'over';
  const done = resent + failed + resolved;
  return h(
    'div',
    {},
    h(
      'p',
      { class: 'buttons', role: 'status', id: isOver ? 'done' : 'sending' },
      isOver
        ? h('strong', {}, sayWith(FAILURES.done, numberText(resent), numberText(failed)))
        : sayWith(
            isStopping ? FAILURES.stopping : FAILURES.sending,
            numberText(done),
            numberText(all),
          ),
      !isOver &&
        !isStopping &&
        h('button', { type: 'button', id: 'stop', onClick: cancel }, say(FAILURES.stop)),
    ),
    h('progress', { max: Math.max(1, all), value: done, 'aria-label': say(FAILURES.plans) }),
    resolved > 0 && h('p', {}, sayWith(FAILURES.resolved, numberText(resolved))),
    !isOver && h('p', { class: 'quiet' }, say(FAILURES.mayClose)),
    wait &&
      h(
        'p',
        { class: 'note' },
        sayWith(
          FAILURES.waiting,
          say(wait.reason === 'NO_ANSWER' ? WORDS.noAnswer : reasonWords(wait.reason)),
          wait.seconds,
        ),
      ),
  );
}

/** @param {{ work: Resend, done: () => void }} props */
function Over({ work, done }) {
  const { left, matters, isUnconfirmed } = work.state;
  const stopped = isUnconfirmed ? FAILURES.unconfirmed : FAILURES.stopped;
  const notSent = notSentIn(matters);
  return h(
    'div',
    {},
    left.length > 0 && h('p', { role: 'status' }, sayWith(stopped, numberText(left.length))),
    notSent.length > 0 && h('ul', { class: 'plan' }, notSent),
    h(
      'p',
      { class: 'buttons' },
      left.length > 0 &&
        h(
          'button',
          {
            ...{ type: 'button', class: 'main', disabled: work.chosen === 0 },
            onClick: () => void work.resend(),
          },
          say(FAILURES.goOn),
        ),
      h('button', { type: 'button', id: 'look-again', onClick: done }, say(FAILURES.again)),
    ),
  );
}
