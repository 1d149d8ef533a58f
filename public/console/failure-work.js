/** Plan, sending and results of a selection of failed matters, one after the other. */
import { subjectOf } from './failure-groups.js';
import { lookedAgain } from './failure-look.js';
import { makePlan } from './failure-plan.js';
import { sendMatters, tellEnd } from './failure-send.js';
import { FAILURES } from './failures-words.js';
import { useEffect, useRef, useState } from './lib/hooks.js';
import { reasonWords } from './reasons.js';
import { holdRoute, route } from './route.js';
import { say, sayWith } from './speech.js';
import { WORDS } from './words.js';

/** @typedef {import('./failure-planned.js').PlannedMatter} PlannedMatter */
/** @typedef {import('./failure-plan.js').Progress} Progress */
/** @typedef {import('./failure-send.js').Result} Result */
/** @typedef {import('./failure-send.js').Wait} Wait */
/** @typedef {import('./shapes').FailedRow} FailedRow */
/** @typedef {import('./failure-planned.js').Setting} Setting */
/** @typedef {{ tone: string, text: string }} TellRow */
/**
 * @typedef {{
 *   phase: 'idle' | 'planning' | 'planned' | 'sending' | 'over', settings: readonly Setting[],
 *   matters: readonly PlannedMatter[], progress?: Progress, wait?: Wait | undefined,
 *   written: number, failed: number, left: readonly PlannedMatter[], error?: unknown,
 * }} State
 */

/** @type {State} */
const IDLE = { phase: 'idle', settings: [], matters: [], written: 0, failed: 0, left: [] };
/** @type {ReadonlyMap<string, TellRow>} */
const NOTHING_TOLD = new Map();

/** @param {{ rows: readonly FailedRow[], isChecked: boolean }} about what is ticked */
export function useSending({ rows, isChecked }) {
  const [state, setState] = useState(IDLE);
  const [told, setTold] = useState(NOTHING_TOLD);
  const stop = useRef(new AbortController());
  /** What the plan was made of: others may be ticked since. */
  const planned = useRef(rows);
  const latest = useRef(state);
  latest.current = state;
  useEffect(
    () => () => {
      stop.current.abort();
      const { phase, left } = latest.current;
      if (phase === 'over' && left.length > 0) tellEnd(latest.current, left);
    },
    [],
  );
  useEffect(
    () =>
      isBegun(state) ? holdRoute((to) => isHere(to) || confirm(say(FAILURES.leave))) : undefined,
    [isBegun(state)],
  );
  const change = (/** @type {Partial<State>} */ changes) =>
    setState((before) => ({ ...before, ...changes }));
  const tell = (/** @type {readonly (readonly [string, TellRow])[]} */ some) =>
    setTold((before) => new Map([...before, ...some]));

  /** Values that were set for other fields stay. @param {Setting} [set] */
  const plan = async (set) => {
    const others = state.settings.filter(({ field }) => field !== set?.field);
    const settings = set ? [...others, set] : [];
    const found = new Map(state.matters.flatMap(({ places }) => [...(places ?? [])]));
    planned.current = rows;
    stop.current = new AbortController();
    const { signal } = stop.current;
    setState({ ...IDLE, settings, phase: 'planning' });
    setTold(NOTHING_TOLD);
    const report = (/** @type {Progress} */ progress) => change({ progress });
    const check = isChecked || set !== undefined;
    const how = { settings, found, isChecked: check, signal, report };
    try {
      const matters = await makePlan(rows, how);
      if (signal.aborted) return;
      change({ phase: 'planned', matters });
      tell(matters.map((matter) => [matter.name, planText(matter)]));
    } catch (error) {
      if (!signal.aborted) change({ ...IDLE, error });
    }
  };
  /** Those of which the plan still holds. @param {readonly PlannedMatter[]} matters @param {AbortSignal} signal */
  const upToDate = async (matters, signal) => {
    const names = new Set(matters.map(({ name }) => name));
    const own = planned.current.filter((row) => names.has(subjectOf(row)));
    const now = await lookedAgain(matters, own, signal);
    const dropped = new Map(now.flatMap((it) => (it.state === 'send' ? [] : [[it.name, it]])));
    tell([...dropped].map(([name, matter]) => [name, planText(matter)]));
    setState((before) => ({
      ...before,
      matters: before.matters.map((matter) => dropped.get(matter.name) ?? matter),
    }));
    return now.filter(({ state }) => state === 'send');
  };
  /** Where less is to be sent than was agreed to, there is a new plan to agree to. */
  const send = async (/** @type {readonly PlannedMatter[]} */ planned) => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    change({ phase: 'sending', left: planned, error: undefined });
    const isFirst = state.phase === 'planned';
    try {
      const matters = isFirst ? await upToDate(planned, signal) : planned;
      if (matters.length < planned.length) change({ phase: 'planned', left: [] });
      else await sendAll(matters, signal, isFirst);
    } catch (error) {
      change({ phase: 'over', ...(!signal.aborted && { error }) });
    }
  };
  /** @param {readonly PlannedMatter[]} matters @param {AbortSignal} signal @param {boolean} isFresh */
  const sendAll = async (matters, signal, isFresh) => {
    const onResults = (/** @type {readonly (readonly [string, Result])[]} */ results) => {
      const written = results.filter(([, { code }]) => code === 0).length;
      setState((before) => ({
        ...before,
        written: before.written + written,
        failed: before.failed + results.length - written,
      }));
      tell(results.map(([name, result]) => [name, resultText(result)]));
    };
    const onWait = (/** @type {Wait | undefined} */ wait) => change({ wait });
    const { written, failed } = state;
    const { left, error } = await sendMatters(matters, {
      ...{ signal, upToDate, isFresh, counts: { written, failed } },
      ...{ onResults, onWait },
    });
    change({ phase: 'over', left, error, wait: undefined });
  };
  const cancel = () => {
    stop.current.abort();
    setState((before) => (before.phase === 'sending' ? before : IDLE));
  };
  const reset = () => {
    setState(IDLE);
    setTold(NOTHING_TOLD);
  };
  return { state, told, plan, send, cancel, reset };
}

/** Whether what is left would be lost with this screen. @param {State} state */
export const isBegun = ({ phase, left }) =>
  phase === 'sending' || (phase === 'over' && left.some(({ begun }) => begun));

/** Whether this screen stays. @param {import('./route.js').Route} to */
function isHere({ screen, params }) {
  const here = route.peek();
  const { reason, field } = here.params;
  return screen === here.screen && params.reason === reason && params.field === field;
}

/** @param {PlannedMatter} matter @returns {TellRow} */
function planText({ state, why = '' }) {
  if (state === 'rejected') return { tone: 'bad', text: sayWith(FAILURES.wouldFail, why) };
  return {
    tone: state === 'send' || state === 'mended' ? 'good' : 'even',
    text: say(FAILURES.states[state]),
  };
}

/** @param {Result} result @returns {TellRow} */
function resultText({ code, message, reason = '', outcome = '', errors = [] }) {
  const words = WORDS.outcomes[/** @type {'CREATED'} */ (outcome)] ?? [outcome, outcome];
  if (code === 0) return { tone: 'good', text: sayWith(FAILURES.written, say(words)) };
  const fields = errors.map((it) => `${it.field} ${it.message}`).join('; ');
  return {
    tone: 'bad',
    text: `${reason ? say(reasonWords(reason)) : message}${fields && `: ${fields}`}`,
  };
}
