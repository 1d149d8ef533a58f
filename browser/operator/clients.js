/** The clients; each can be paused, or resumed, by whoever has the token. */

import { Fragment, h } from 'preact';
import { useState } from 'preact/hooks';
import { say, sayWith } from '../console/kit/speech.js';
import { asked, change, operator, token } from './change.js';
import { Card, numberText, Quiet, spanText, Table, timeText, Unknown } from './parts.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').OperatorStatus} OperatorStatus */
/** @typedef {import('./shapes').ClientStatus} ClientStatus */

/** Rows that are shown; `matterctl client list` has all. */
const ROWS = 200;

/** @param {{ status: OperatorStatus }} props */
export function Clients({ status: { clients, canChange } }) {
  const title = say(WORDS.clients);
  if (!clients) return h(Card, { id: 'clients', title }, h(Unknown, { server: 'mongodb' }));
  const names = [
    WORDS.client,
    WORDS.system,
    WORDS.state,
    WORDS.rate,
    WORDS.pushes,
    WORDS.failed,
    WORDS.rejected,
    WORDS.lastReason,
  ];
  const head = [
    ...names.map(say),
    ...(canChange ? [`${say(WORDS.pause)} / ${say(WORDS.resume)}`] : []),
  ];
  const shown = clients.toSorted((a, b) => weight(b) - weight(a)).slice(0, ROWS);
  const rows = shown.map((client) => ({
    key: client.clientId,
    cells: [...cellsOf(client), ...(canChange ? [h(Ask, { client })] : [])],
  }));
  const chosen = clients.find(({ clientId }) => clientId === asked.value);
  return h(
    Card,
    { id: 'clients', title },
    !canChange && h(Quiet, { text: say(WORDS.readOnly) }),
    rows.length === 0
      ? h(Quiet, { text: say(WORDS.noClients) })
      : h(Table, { label: title, head, rows }),
    clients.length > ROWS &&
      h(Quiet, { text: `+ ${clients.length - ROWS}: matterctl client list` }),
    canChange && chosen && h(Form, { key: chosen.clientId, client: chosen }),
  );
}

/** Those in trouble first, then the busiest. @param {ClientStatus} client */
const weight = ({ paused, failed, rejected, pushes }) =>
  (paused ? 4e9 : 0) + (failed ? 2e9 : 0) + (rejected ? 1e9 : 0) + (pushes ?? 0);

/** @param {ClientStatus} client */
function cellsOf(client) {
  const { clientId, systemCode, rate, pushes, failed, rejected } = client;
  const most = rate === null ? '–' : rate === 0 ? say(WORDS.noLimit) : `${rate}/s`;
  return [
    ...[clientId, systemCode ?? '–', h(State, { client }), most],
    ...[pushes, failed, rejected].map((count) => (count === null ? '–' : numberText(count))),
    h(LastReason, { client }),
  ];
}

/** Of the last push that did not go well, which may be long ago. @param {{ client: ClientStatus }} props */
function LastReason({ client: { lastReason, lastReasonMs } }) {
  if (!lastReason) return '–';
  const ago = lastReasonMs === null ? '' : ` ${sayWith(WORDS.ago, spanText(lastReasonMs))}`;
  return h(Fragment, {}, h('code', {}, lastReason), ago);
}

/** @param {{ client: ClientStatus }} props */
function State({ client: { state, paused } }) {
  if (state === 'disabled') return h('span', { class: 'even' }, say(WORDS.disabled));
  if (state === 'unknown') return h('span', { class: 'even' }, say(WORDS.unknownState));
  if (state === 'blocked') return h('span', { class: 'paused' }, say(WORDS.blocked));
  if (!paused) return h('span', { class: 'good' }, say(WORDS.ok));
  return h(
    'span',
    { class: 'paused' },
    sayWith(WORDS.pausedSince, timeText(paused.since)),
    paused.reason && h(Fragment, {}, ': ', h('bdi', {}, paused.reason)),
  );
}

/** @param {{ client: ClientStatus }} props */
const Ask = ({ client: { clientId, paused } }) =>
  h(
    'button',
    {
      type: 'button',
      'aria-label': sayWith(paused ? WORDS.resumeTitle : WORDS.pauseTitle, clientId),
      onClick: () => {
        asked.value = clientId;
      },
    },
    say(paused ? WORDS.resume : WORDS.pause),
  );

/** @param {{ client: ClientStatus }} props */
function Form({ client: { clientId, paused } }) {
  const [reason, setReason] = useState('');
  const [refusal, setRefusal] = useState('');
  const [isSending, setSending] = useState(false);
  // What it was when somebody asked: another one may do the same meanwhile.
  const [what] = useState(/** @type {'pause' | 'resume'} */ (paused ? 'resume' : 'pause'));
  const send = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setSending(true);
    const refused = await change(what, clientId, reason);
    setSending(false);
    if (!refused) asked.value = undefined;
    else setRefusal(refusalText(refused));
  };
  const title = sayWith(what === 'pause' ? WORDS.pauseTitle : WORDS.resumeTitle, clientId);
  return h(
    'form',
    { class: 'change', onSubmit: send, onKeyDown: closeOnEscape, 'aria-label': title },
    h('h3', {}, h('bdi', {}, title)),
    h('p', { class: 'quiet' }, say(what === 'pause' ? WORDS.pauseAbout : WORDS.resumeAbout)),
    what === 'pause' &&
      h(Field, {
        id: 'reason',
        label: say(WORDS.reason),
        value: reason,
        most: 200,
        onValue: setReason,
      }),
    h(Field, {
      id: 'operator',
      label: say(WORDS.yourName),
      value: operator.value,
      most: 64,
      onValue: (text) => {
        operator.value = text;
      },
    }),
    h(Field, {
      id: 'token',
      label: `${say(WORDS.token)} – ${say(WORDS.tokenAbout)}`,
      type: 'password',
      value: token.value,
      most: 256,
      onValue: (text) => {
        token.value = text;
      },
    }),
    refusal && h('p', { class: 'bad', role: 'alert' }, sayWith(WORDS.notDone, refusal)),
    h(
      'p',
      { class: 'buttons' },
      h(
        'button',
        { type: 'submit', class: 'main', disabled: isSending },
        say(what === 'pause' ? WORDS.pause : WORDS.resume),
      ),
      h(
        'button',
        {
          type: 'button',
          onClick: close,
        },
        say(WORDS.cancel),
      ),
    ),
  );
}

function close() {
  asked.value = undefined;
}

/** Of an input method it only ends what is being written. @param {KeyboardEvent} event */
function closeOnEscape({ key, isComposing }) {
  if (key === 'Escape' && !isComposing) close();
}

/** @param {import('./change.js').Refusal} refusal */
function refusalText({ reason, message }) {
  const words = WORDS.refusals[/** @type {'TOKEN_WRONG'} */ (reason)];
  return words ? say(words) : `${message} (${reason})`;
}

/** @param {{ id: string, label: string, value: string, most: number, type?: string, onValue: (text: string) => void }} props */
const Field = ({ id, label, value, most, type = 'text', onValue }) =>
  h(
    'label',
    { for: `change-${id}` },
    label,
    h('input', {
      ...{ id: `change-${id}`, type, value, maxLength: most, required: id !== 'reason' },
      autocomplete: 'off',
      onInput: (/** @type {any} */ event) => onValue(event.currentTarget.value),
    }),
  );
