/** Compares a file of a source system with the portal in three steps, and sends what differs. The file stays in the browser. */
import { h } from 'preact';
import { say, sayWith } from '../../kit/speech.js';
import { Failure } from '../../read/answer-parts.js';
import { FileStep } from './choose-file.js';
import { Columns } from './columns.js';
import { Outcome } from './outcome.js';
import { FileError } from './read-source.js';
import { stop } from './run.js';
import * as state from './state.js';
import { Steps } from './steps.js';
import { RECONCILE } from './words.js';

export function Reconcile() {
  const { value: problem } = state.problem;
  const { value: step } = state.step;
  const { value: result } = state.result;
  return h(
    'section',
    { class: 'reconcile' },
    h('h1', {}, say(RECONCILE.heading)),
    step === 'file' && h('p', { class: 'quiet' }, say(RECONCILE.about)),
    h(Steps, {}),
    problem ? h(Trouble, { problem }) : null,
    step === 'file' && h(FileStep, {}),
    step === 'columns' && h(Columns, {}),
    h(Progress, {}),
    step === 'result' && result && h(Outcome, { result }),
  );
}

/** @param {{ problem: unknown }} props */
function Trouble({ problem }) {
  if (!(problem instanceof FileError)) return h(Failure, { error: problem });
  const words = RECONCILE.wrongFile[problem.why];
  return h(
    'div',
    { class: 'failure', role: 'alert' },
    sayWith(words, problem.line, problem.sample),
  );
}

/** The progress in words and as a bar, with a button that stops the work. */
function Progress() {
  const { value: work } = state.work;
  if (!work) return null;
  const { name, done = 0, total } = work;
  const text = sayWith(RECONCILE.work[name], done, total ?? 0);
  return h(
    'div',
    { class: 'buttons progress' },
    h('p', { role: 'status' }, text),
    h('progress', {
      'aria-label': say(RECONCILE.heading),
      ...(total && { max: total, value: done }),
    }),
    h('button', { type: 'button', onClick: stop }, say(RECONCILE.stop)),
  );
}
