/** The resend of selected matters as a screen shows it: its plan, its progress, and the result of each matter. */

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { say, sayWith } from '../kit/speech.js';
import { WORDS } from '../kit/words.js';
import { subjectOf } from '../read/failure-groups.js';
import { reasonWords } from '../read/reasons.js';
import { sessionSignal } from '../read/session.js';
import { makePlan, problemText } from './plan.js';
import { isResolved, NONE, reportEnd, resendAll } from './resend.js';
import { FAILURES } from './words.js';

/** @typedef {import('./plan.js').PlannedMatter} PlannedMatter */
/** @typedef {import('./plan.js').Progress} Progress */
/** @typedef {import('./resend.js').FieldValue} FieldValue */
/** @typedef {import('./resend.js').Result} Result */
/** @typedef {import('./resend.js').Wait} Wait */
/** @typedef {import('../read/shapes').FailedRow} FailedRow */
/** @typedef {{ readonly tone: string, readonly text: string }} RowText */
/** @typedef {import('./resend.js').Counts} Counts */
/**
 * @typedef {object} State
 * @property {'idle' | 'planning' | 'planned' | 'sending' | 'over'} phase
 * @property {readonly FieldValue[]} set
 * @property {readonly PlannedMatter[]} matters
 * @property {number} all pushes that are sent
 * @property {readonly string[]} left pushes without a final result
 * @property {Counts} counts
 * @property {boolean} isStopping the results of the last request are not known yet
 * @property {boolean} isUnconfirmed the service may have received pushes of `left`
 * @property {boolean} isOutdated the selection changed, so the preview was discarded
 * @property {Progress | undefined} progress
 * @property {Wait | undefined} wait
 * @property {unknown} error
 */

/** @type {State} */
const IDLE = {
  ...{ phase: 'idle', set: [], matters: [], all: 0, left: [], counts: NONE },
  ...{ isStopping: false, isUnconfirmed: false, isOutdated: false },
  ...{ progress: undefined, wait: undefined, error: undefined },
};
/** @type {ReadonlyMap<string, RowText>} */
const NO_TEXTS = new Map();

/**
 * The preview belongs to the selection: another selection discards it, and a stopped resend continues with the matters
 * that are still selected.
 *
 * @param {readonly FailedRow[]} rows the selected matters
 */
export function useResend(rows) {
  const [state, setState] = useState(IDLE);
  const [texts, setTexts] = useState(NO_TEXTS);
  const stop = useRef(new AbortController());
  const latest = useRef(state);
  latest.current = state;
  const change = (/** @type {Partial<State>} */ changes) => {
    latest.current = { ...latest.current, ...changes };
    setState(latest.current);
  };
  useEffect(
    () => () => {
      stop.current.abort();
      const { phase, counts, left } = latest.current;
      if (phase === 'over' && left.length > 0) reportEnd(counts, left.length);
    },
    [],
  );

  const selection = JSON.stringify(rows.map(subjectOf));
  // A normal effect would run after the next frame, and could discard a preview that was started since the selection.
  useLayoutEffect(() => {
    if (!['planning', 'planned'].includes(latest.current.phase)) return;
    stop.current.abort();
    change({ ...IDLE, isOutdated: true });
    setTexts(NO_TEXTS);
  }, [selection]);

  /** Other changes stay. @param {FieldValue} [value] */
  const plan = async (value) => {
    const others = state.set.filter(
      ({ field, from }) => field !== value?.field || from !== value.from,
    );
    const set = value ? [...others, value] : [];
    stop.current = new AbortController();
    const signal = AbortSignal.any([stop.current.signal, sessionSignal()]);
    change({ ...IDLE, set, phase: 'planning' });
    setTexts(NO_TEXTS);
    try {
      const report = (/** @type {Progress} */ progress) => change({ progress });
      const matters = await makePlan(rows, { set, signal, report });
      if (signal.aborted) return;
      const left = matters.flatMap(({ pushes }) => pushes);
      change({ phase: 'planned', matters, left, all: left.length });
      setTexts(new Map(matters.map((matter) => [matter.name, planText(matter)])));
    } catch (error) {
      if (!signal.aborted) change({ ...IDLE, error });
    }
  };
  const resend = async () => {
    stop.current = new AbortController();
    const names = new Map(
      state.matters.flatMap(({ name, pushes }) => pushes.map((id) => [id, name])),
    );
    const { chosen, others } = chosenOf(state, rows);
    change({ phase: 'sending', isUnconfirmed: false, error: undefined });
    const { left, ...end } = await resendAll(chosen, {
      ...{ set: state.set, signal: stop.current.signal, counts: state.counts },
      onResults: (results, counts) => {
        change({ counts });
        setTexts((before) => textsWith(before, results, names));
      },
      onWait: (wait) => change({ wait }),
    });
    change({
      ...{ phase: 'over', left: [...left, ...others], wait: undefined, isStopping: false },
      ...end,
    });
  };
  const cancel = () => {
    stop.current.abort();
    change(latest.current.phase === 'sending' ? { isStopping: true } : IDLE);
  };
  const reset = () => {
    change(IDLE);
    setTexts(NO_TEXTS);
  };
  return { state, texts, chosen: chosenOf(state, rows).chosen.length, plan, resend, cancel, reset };
}

/**
 * @param {Pick<State, 'matters' | 'left'>} state @param {readonly FailedRow[]} rows the selected matters
 * @returns {{ chosen: string[], others: string[] }} the pushes without a final result, of selected and of other matters
 */
export function chosenOf({ matters, left }, rows) {
  const names = new Set(rows.map(subjectOf));
  const ids = new Set(matters.flatMap(({ name, pushes }) => (names.has(name) ? pushes : [])));
  return { chosen: left.filter((id) => ids.has(id)), others: left.filter((id) => !ids.has(id)) };
}

/** The failure of one push remains the text of its matter. @param {ReadonlyMap<string, RowText>} before @param {readonly Result[]} results @param {ReadonlyMap<string, string>} names */
function textsWith(before, results, names) {
  const texts = new Map(before);
  for (const result of results) {
    const name = names.get(result.resentFrom) ?? '';
    if (texts.get(name)?.tone !== 'bad') texts.set(name, resultText(result));
  }
  return texts;
}

/** @param {PlannedMatter} matter @returns {RowText} */
function planText({ state, why = '' }) {
  if (state === 'rejected') return { tone: 'bad', text: sayWith(FAILURES.wouldFail, why) };
  return {
    tone: state === 'send' || state === 'resolved' ? 'good' : 'even',
    text: say(FAILURES.states[state]),
  };
}

/** @param {Result} result @returns {RowText} */
function resultText(result) {
  const { code, reason = '', outcome = '', errors = [] } = result;
  if (isResolved(result)) return { tone: 'good', text: say(FAILURES.resolvedBefore) };
  if (code === 0) {
    const words = WORDS.outcomes[/** @type {'CREATED'} */ (outcome)] ?? [outcome, outcome];
    return { tone: 'good', text: sayWith(FAILURES.resent, say(words)) };
  }
  const text = reason && errors.length === 0 ? say(reasonWords(reason)) : problemText(result);
  return { tone: 'bad', text };
}
