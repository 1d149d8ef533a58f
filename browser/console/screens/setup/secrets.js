/** The secrets and keys of the client, by their ids, with their ends. */

import { h } from 'preact';
import { lengthText } from '../../kit/parts.js';
import { say, sayWith } from '../../kit/speech.js';
import { timeText } from '../../read/answer-parts.js';
import { When } from '../../read/when.js';
import { SETUP_WORDS } from './words.js';

/** @typedef {import('../../read/setup-shapes').OwnSelf} OwnSelf */
/** @typedef {import('../../read/setup-shapes').Secret} Secret */

/** Milliseconds before its end in which it stands out. */
const SOON = 7 * 86_400_000;

/** @param {{ me: OwnSelf }} props */
export function Secrets({ me }) {
  const now = Date.parse(me.serviceTime);
  const { kind, secretId, created, ends, lastUsed } = SETUP_WORDS;
  const heads = [kind, secretId, created, ends, lastUsed];
  return h(
    'div',
    { class: 'card secrets' },
    h('h2', {}, say(SETUP_WORDS.secrets)),
    h('p', { class: 'quiet' }, say(SETUP_WORDS.secretsAbout)),
    h(
      'table',
      { class: 'plain' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          heads.map((words) => h('th', { key: words[0], scope: 'col' }, say(words))),
        ),
      ),
      h(
        'tbody',
        {},
        [...me.secrets, ...me.queryKeys].map((secret) =>
          h(Row, { key: secret.secretId, secret, now, current: me.signedWith.secretId }),
        ),
      ),
    ),
  );
}

/** @param {{ secret: Secret, now: number, current: string }} props */
function Row({ secret, now, current }) {
  const { secretId, createdAt, lastUsedAt } = secret;
  const [tone, ends] = endOf(secret, now);
  const cells = [
    say(kindOf(secret)),
    h(
      'span',
      {},
      h('code', {}, secretId),
      secretId === current && h('span', { class: 'badge' }, say(SETUP_WORDS.thisOne)),
    ),
    h(When, { at: createdAt }),
    h('span', { class: tone }, ends),
    // The service notes a use within a minute.
    secretId === current
      ? say(SETUP_WORDS.now)
      : lastUsedAt
        ? h(When, { at: lastUsedAt })
        : say(SETUP_WORDS.never),
  ];
  const { kind, secretId: id, created, ends: end, lastUsed } = SETUP_WORDS;
  const labels = [kind, id, created, end, lastUsed];
  return h(
    'tr',
    {},
    cells.map((cell, at) => h('td', { key: at, 'data-label': say(labels[at] ?? kind) }, cell)),
  );
}

/** @param {Secret} secret */
function kindOf({ scopes, bodies }) {
  if (!scopes) return SETUP_WORDS.secret;
  if (bodies === false) {
    return scopes.includes('push') ? SETUP_WORDS.mayPushBlind : SETUP_WORDS.queryKeyBlind;
  }
  return scopes.includes('push') ? SETUP_WORDS.mayPush : SETUP_WORDS.queryKey;
}

/** @param {Secret} secret @param {number} now @returns {readonly [tone: string, text: string]} */
function endOf({ endsAt, scopes }, now) {
  if (!endsAt) return ['', say(SETUP_WORDS.noEnd)];
  const left = Date.parse(endsAt) - now;
  if (left <= 0) return ['bad', sayWith(SETUP_WORDS.hasEnded, timeText(endsAt))];
  // A query key is made to end soon; that a secret does is news.
  const tone = left < SOON && !scopes ? 'even' : '';
  return [tone, sayWith(SETUP_WORDS.endsSoon, timeText(endsAt), lengthText(left))];
}
