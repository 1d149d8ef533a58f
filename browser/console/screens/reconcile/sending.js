/** What is done with the ticked rows: tried, then sent; or why this key does neither. */
import { h } from 'preact';
import { numberText } from '../../kit/parts.js';
import { say, sayWith } from '../../kit/speech.js';
import { mayPush, self } from '../../read/self.js';
import { isOf } from './doubts.js';
import { sendTicked, tryTicked } from './run.js';
import * as state from './state.js';
import { RECONCILE } from './words.js';

export function Sending() {
  const sendable = state.sendableRows.value;
  const count = state.ticked.value.size;
  const isBusy = state.work.value !== undefined;
  const cannot = !mayPush()
    ? RECONCILE.mayNotPush
    : self.value?.paused
      ? RECONCILE.paused
      : undefined;
  const { value: ended } = state.ended;
  const tickAll = () => {
    const ids = sendable.map(({ externalId }) => externalId);
    state.ticked.value = new Set([...state.ticked.value, ...ids]);
  };
  const tickNone = () => {
    state.ticked.value = new Set();
  };
  const hasOrphans = state.result.value?.rows.some(isOf('ORPHAN'));
  return h(
    'div',
    { class: 'sending' },
    h(
      'div',
      { class: 'buttons' },
      button(
        'tick-all',
        tickAll,
        sendable.length === 0,
        sayWith(RECONCILE.tickAll, numberText(sendable.length)),
      ),
      button('tick-none', tickNone, count === 0, say(RECONCILE.tickNone)),
      h('span', { role: 'status' }, sayWith(RECONCILE.ticked, numberText(count))),
      button('try-ticked', tryTicked, count === 0 || isBusy, say(RECONCILE.tryOut)),
      !cannot &&
        button('send-ticked', sendTicked, count === 0 || isBusy, say(RECONCILE.sendTicked)),
    ),
    h('p', { class: cannot ? 'note' : 'quiet' }, say(cannot ?? RECONCILE.tryFirst)),
    hasOrphans && h('p', { class: 'quiet' }, say(RECONCILE.neverCloses)),
    ended &&
      h(
        'p',
        { role: 'status', class: 'note ended' },
        sayWith(RECONCILE[ended.words], ...ended.counts.map((it) => numberText(it))),
      ),
  );
}

/** @param {string} id @param {() => unknown} onClick @param {boolean} disabled @param {string} text */
const button = (id, onClick, disabled, text) =>
  h(
    'button',
    { type: 'button', id, disabled, onClick, class: id === 'send-ticked' ? 'main' : '' },
    text,
  );
