/** Reconcile: a file of a system beside what the portal holds, and what differs mended. The file stays in the browser. */
import { h } from 'preact';
import { say, sayWith } from '../../kit/speech.js';
import { Failure } from '../../read/answer-parts.js';
import { FileStep } from './choose-file.js';
import { Columns } from './columns.js';
import { HeatMap } from './heat.js';
import { Outcome } from './outcome.js';
import { FileError } from './read-source.js';
import { stop } from './run.js';
import * as state from './state.js';
import { RECONCILE } from './words.js';

export function Reconcile() {
  const { value: problem } = state.problem;
  return h(
    'section',
    { class: 'reconcile' },
    h('h1', {}, say(RECONCILE.heading)),
    h('p', { class: 'quiet' }, say(RECONCILE.about)),
    h(FileStep, {}),
    state.opened.value && h(Columns, {}),
    problem ? h(Trouble, { problem }) : null,
    h(Progress, {}),
    h(HeatMap, {}),
    state.result.value && h(Outcome, { result: state.result.value }),
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

/** How far it is, in words and as a bar; it can be stopped. */
function Progress() {
  const { value: work } = state.work;
  if (!work) return null;
  const { name, done = 0, total } = work;
  const text = sayWith(RECONCILE.work[name], done, total ?? 0);
  return h(
    'div',
    { class: 'progress' },
    h('p', { role: 'status' }, text),
    h('progress', {
      'aria-label': say(RECONCILE.heading),
      ...(total && { max: total, value: done }),
    }),
    h('button', { type: 'button', onClick: stop }, say(RECONCILE.stop)),
  );
}
