/** The three steps of a reconciliation: file, columns, result. The user can go back to a step; the file stays. */
import { h } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { say, sayWith } from '../../kit/speech.js';
import { compare } from './run.js';
import * as state from './state.js';
import { RECONCILE } from './words.js';

export function Steps() {
  const { value: current } = state.step;
  const { value: opened } = state.opened;
  const isReached = { file: true, columns: opened, result: state.result.value };
  const heading = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  const last = useRef(current);
  useEffect(() => {
    // The control that led to this step is gone, so the focus moves to the heading of the step.
    if (last.current !== current) heading.current?.focus();
    last.current = current;
  }, [current]);
  return [
    h(
      'ol',
      { class: 'segments', 'aria-label': say(RECONCILE.steps) },
      state.STEPS.map((name, at) =>
        h(
          'li',
          { key: name },
          h(
            'button',
            {
              type: 'button',
              'data-step': name,
              'aria-current': name === current ? 'step' : undefined,
              disabled: name !== current && (!!state.work.value || !isReached[name]),
              onClick: goTo(name),
            },
            `${at + 1} ${say(RECONCILE.step[name])}`,
          ),
        ),
      ),
    ),
    h('h2', { ref: heading, tabIndex: -1 }, say(RECONCILE.step[current])),
    opened && h(Chosen, { opened, step: current }),
  ];
}

/** @param {import('./state.js').Step} name */
const goTo = (name) => () => {
  state.step.value = name;
};

/** The steps before this one in a line, with the way back. @param {{ opened: import('./read-source.js').Opened, step: import('./state.js').Step }} props */
function Chosen({ opened, step }) {
  const { name, form, records, encoding } = opened;
  const lines = records.length - (state.options.value.hasHead ? 1 : 0);
  const known = encoding === 'gb18030' ? 'GBK' : encoding.toUpperCase();
  const about = sayWith(RECONCILE.forms[form], lines, state.mapping.value.length, known);
  const disabled = !!state.work.value;
  const button = (/** @type {string} */ text, /** @type {object} */ more) =>
    h('button', { type: 'button', disabled, ...more }, text);
  return h(
    'p',
    { class: 'buttons' },
    h('span', { class: 'chosen' }, h('strong', {}, h('bdi', {}, name)), ` · ${about}`),
    step === 'file' && button(say(RECONCILE.next), { onClick: goTo('columns') }),
    step === 'columns' && button(say(RECONCILE.another), { onClick: goTo('file') }),
    step === 'result' && [
      button(say(RECONCILE.changeColumns), { onClick: goTo('columns') }),
      button(say(RECONCILE.compareAgain), { id: 'compare', onClick: compare }),
    ],
  );
}
