/** Parts of a page that show an answer of the service: a failure, a time in the time zone of the portal, the result of a push. */
import { h } from 'preact';
import { useEffect } from 'preact/hooks';
import { isEnglish, say } from '../kit/speech.js';
import { WORDS } from '../kit/words.js';
import { AskError } from './ask.js';
import { reasonWords } from './reasons.js';
import { self } from './self.js';

/** Milliseconds between two automatic attempts after an outage. */
const RETRY = 10_000;

/** If the service gave no answer, the part asks again by itself until it has one. @param {{ error: unknown, again?: () => void }} props */
export function Failure({ error, again }) {
  const isTold = error instanceof AskError;
  const isUnanswered = !isTold || error.reason === 'NO_ANSWER';
  useEffect(() => {
    if (!isUnanswered || !again) return undefined;
    const timer = setTimeout(again, RETRY);
    return () => clearTimeout(timer);
  }, [error]);
  const isAltered = isTold && error.reason === 'SIGNATURE_MISMATCH';
  const text = isUnanswered ? say(WORDS.noAnswer) : isAltered ? say(WORDS.altered) : error.message;
  const details =
    isTold && !isUnanswered
      ? `${error.reason} · ${error.envelope?.requestId ?? ''}`
      : String(error);
  return h(
    'div',
    { class: 'failure', role: 'alert' },
    h('p', {}, h('strong', {}, text)),
    h('p', { class: 'quiet' }, details),
    again && h('button', { type: 'button', onClick: again }, say(WORDS.tryAgain)),
  );
}

/** An instant in the time zone of the portal. @param {string | null | undefined} at @param {boolean} [isExact] with milliseconds */
export function timeText(at, isExact = false) {
  if (!at) return '–';
  const timeZone = self.value?.timeZone ?? 'UTC';
  return new Intl.DateTimeFormat(isEnglish() ? 'en-GB' : 'zh-CN', {
    timeZone,
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
    second: '2-digit',
    ...(isExact && { fractionalSecondDigits: 3 }),
    hourCycle: 'h23',
  }).format(new Date(at));
}

/** The result of a push, in words. @param {{ outcome: string | null, reason: string | null, state: string }} entry */
export function resultText({ outcome, reason, state }) {
  if (reason) return say(reasonWords(reason));
  if (outcome) return say(WORDS.outcomes[/** @type {'CREATED'} */ (outcome)] ?? [outcome, outcome]);
  return say(WORDS.states[/** @type {'QUEUED'} */ (state)] ?? [state, state]);
}

/** The tone of a result; the words next to it state the same. @param {{ reason: string | null, state: string, outcome?: string | null }} entry */
export function toneOf({ reason, state, outcome }) {
  if (reason || state === 'REFUSED' || state === 'EXPIRED') return 'bad';
  if (state === 'QUEUED' || outcome === 'STALE_IGNORED') return 'even';
  return 'good';
}
