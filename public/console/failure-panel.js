/** What a selection is about to come to, and what it came to. */
import { isBegun } from './failure-work.js';
import { FAILURES } from './failures-words.js';
import { useEffect, useRef } from './lib/hooks.js';
import { h } from './lib/preact.js';
import { Failure, numberText } from './parts.js';
import { reasonWords } from './reasons.js';
import { mayPush } from './self.js';
import { say, sayWith } from './speech.js';
import { WORDS } from './words.js';

/** @typedef {ReturnType<typeof import('./failure-work.js').useSending>} Sending */
/** @typedef {import('./failure-planned.js').PlannedMatter} PlannedMatter */
/** @typedef {import('./failure-planned.js').PlanState} PlanState */

/** @param {{ count: number, plan: () => void }} props */
export const Plan = ({ count, plan }) =>
  h(
    'p',
    { class: 'buttons' },
    h(
      'button',
      { type: 'button', id: 'plan', class: 'main', disabled: count === 0, onClick: plan },
      say(FAILURES.plan),
    ),
    h('span', { class: 'quiet' }, say(FAILURES.planAbout)),
  );

/** @param {{ work: Sending, again: () => void }} props */
export function Work({ work, again }) {
  const { state, reset } = work;
  const { phase, error } = state;
  const panel = useRef(/** @type {HTMLDivElement | null} */ (null));
  // What was pressed may be gone: the keyboard goes on here, and Escape closes the plan.
  useEffect(() => {
    if (document.activeElement === document.body) panel.current?.focus({ preventScroll: true });
  }, [phase]);
  if (phase === 'idle') return error ? h(Failure, { error }) : null;
  const done = () => {
    if (isBegun(state) && !confirm(say(FAILURES.leave))) return;
    reset();
    again();
  };
  return h(
    'div',
    { class: 'card work', tabIndex: -1, ref: panel },
    phase === 'planning' && h(Planning, { work }),
    phase === 'planned' && h(Planned, { work }),
    (phase === 'sending' || phase === 'over') && h(Counted, { work }),
    phase === 'over' && error ? h(Failure, { error }) : null,
    phase === 'over' && h(Over, { work, done }),
  );
}

/** @param {{ work: Sending }} props */
function Planning({ work: { state, cancel } }) {
  const { phase = 'planning', done = 0, all = 0 } = state.progress ?? {};
  const words = phase === 'checking' ? FAILURES.checking : FAILURES.planning;
  return h(
    'p',
    { class: 'buttons', role: 'status' },
    sayWith(words, numberText(done), numberText(all)),
    h('button', { type: 'button', onClick: cancel }, say(FAILURES.cancel)),
  );
}

/** @type {PlanState[]} */
const OTHERS = [
  'mended',
  'changed',
  'parted',
  'foreign',
  'bodyless',
  'unsendable',
  'many',
  'rejected',
];

/** @param {{ work: Sending }} props */
function Planned({ work }) {
  const { matters } = work.state;
  const sendable = matters.filter(({ state }) => state === 'send');
  const pushes = sendable.reduce((sum, matter) => sum + matter.pushes.length, 0);
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
        pushes > 0
          ? sayWith(FAILURES.willSend, numberText(pushes), numberText(sendable.length))
          : say(FAILURES.nothingToSend),
      ),
      othersIn(matters),
    ),
    !mayPush() && h('p', { class: 'note' }, say(WORDS.mayNotPush)),
    h(
      'p',
      { class: 'buttons' },
      mayPush() &&
        pushes > 0 &&
        h(
          'button',
          { type: 'button', id: 'send', class: 'main', onClick: () => void work.send(sendable) },
          sayWith(FAILURES.send, numberText(pushes)),
        ),
      h('button', { type: 'button', onClick: work.reset }, say(FAILURES.cancel)),
    ),
  );
}

/** Those that are not sent, and why. @param {readonly PlannedMatter[]} matters */
const othersIn = (matters) =>
  OTHERS.map((name) => ({ name, count: matters.filter(({ state }) => state === name).length }))
    .filter(({ count }) => count > 0)
    .map(({ name, count }) =>
      h('li', { key: name, class: name }, `${numberText(count)} ${say(FAILURES.states[name])}`),
    );

/** @param {{ work: Sending }} props */
function Counted({ work: { state, cancel } }) {
  const { phase, matters, written, failed, wait } = state;
  const all = matters.filter(({ state: planned }) => planned === 'send').length;
  const done = written + failed;
  const isOver = phase === 'over';
  return h(
    'div',
    {},
    h(
      'p',
      { class: 'buttons', role: 'status', id: isOver ? 'done' : 'sending' },
      isOver
        ? h('strong', {}, sayWith(FAILURES.done, numberText(written), numberText(failed)))
        : sayWith(FAILURES.sending, numberText(done), numberText(all)),
      !isOver && h('button', { type: 'button', onClick: cancel }, say(FAILURES.stop)),
    ),
    h('progress', { max: Math.max(1, all), value: done, 'aria-label': say(FAILURES.plans) }),
    wait &&
      h(
        'p',
        { class: 'note' },
        sayWith(
          FAILURES.waiting,
          say(wait.reason === 'NO_ANSWER' ? WORDS.noAnswer : reasonWords(wait.reason)),
          wait.wait,
        ),
      ),
  );
}

/** @param {{ work: Sending, done: () => void }} props */
function Over({ work, done }) {
  const { left, matters } = work.state;
  const others = othersIn(matters);
  return h(
    'div',
    {},
    left.length > 0 &&
      h('p', { role: 'status' }, sayWith(FAILURES.stopped, numberText(left.length))),
    left.some(({ begun }) => begun) && h('p', { class: 'note' }, say(FAILURES.inPart)),
    others.length > 0 && h('ul', { class: 'plan' }, others),
    h(
      'p',
      { class: 'buttons' },
      left.length > 0 &&
        h(
          'button',
          { type: 'button', class: 'main', onClick: () => void work.send(left) },
          say(FAILURES.goOn),
        ),
      h('button', { type: 'button', id: 'look-again', onClick: done }, say(FAILURES.again)),
    ),
  );
}
