/** Small things of the screen. Texts are always children, never markup. */
import { h } from 'preact';
import { isEnglish, say, sayWith } from '../console/kit/speech.js';
import { status } from './look.js';
import { WORDS } from './words.js';

/** @typedef {import('preact').ComponentChildren} Children */

/** @param {{ id: string, title: string, children?: Children }} props */
export const Card = ({ id, title, children }) =>
  h(
    'section',
    { class: `card ${id}`, id, 'aria-labelledby': `${id}-title` },
    h('h2', { id: `${id}-title` }, title),
    children,
  );

/** @param {{ server: 'redis' | 'mongodb' }} props */
export const Unknown = ({ server }) => h('p', { class: 'quiet' }, say(WORDS.unknown[server]));

/** @param {{ text: string }} props */
export const Quiet = ({ text }) => h('p', { class: 'quiet' }, text);

/** @typedef {{ readonly key: string | number, readonly cells: readonly Children[] }} Row */

/** It scrolls sideways where there is no room, also by the keyboard. Its card is the landmark of that name. @param {{ label: string, head: readonly string[], rows: readonly Row[] }} props */
export const Table = ({ label, head, rows }) =>
  h(
    'div',
    { class: 'wide', tabIndex: 0, role: 'group', 'aria-label': label },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          head.map((text, at) => h('th', { key: at, scope: 'col' }, text)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map(({ key, cells: [first, ...others] }) =>
          h(
            'tr',
            { key },
            h('th', { scope: 'row' }, h('bdi', {}, first)),
            others.map((cell, at) => h('td', { key: at }, cell)),
          ),
        ),
      ),
    ),
  );

/** The zone of the portal, as in the console and in matterctl. */
const zone = () => ({ timeZone: status.value?.timeZone });

/** @param {string | number} at */
export const clockText = (at) =>
  new Intl.DateTimeFormat(isEnglish() ? 'en-GB' : 'zh-CN', {
    ...zone(),
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  }).format(new Date(at));

/** With the day. @param {string | number} at */
export const timeText = (at) =>
  new Intl.DateTimeFormat(isEnglish() ? 'en-GB' : 'zh-CN', {
    ...zone(),
    ...{ month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  }).format(new Date(at));

/** @param {number | null} ms */
export function spanText(ms) {
  if (ms === null) return '–';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 7_200_000) return sayWith(WORDS.minutes, Math.round(ms / 60_000));
  return sayWith(WORDS.hours, Math.round(ms / 3_600_000));
}

/** @param {number} value */
export const numberText = (value) => new Intl.NumberFormat('en').format(value);
