/** The status of a matter as a badge: its text, and a tone that says how it ended. */
import { h } from 'preact';
import { PHASES, STATUSES } from '../../kit/matter-words.js';
import { sayName } from '../../kit/speech.js';

/** @typedef {Pick<import('../../read/matter-shapes').Matter, 'phase' | 'bizStatus' | 'externalStatusLabel'>} Stated */

/** @type {Readonly<Record<string, string>>} */
const ENDS = {
  ...{ DONE: 'good', COMPLETED: 'good', FINISHED: 'good', APPROVED: 'good' },
  REJECTED: 'bad',
};

/** @param {Stated} matter */
export const toneOfStatus = ({ phase, bizStatus }) =>
  phase === 'OPEN' ? 'info' : phase === 'CONCLUDED' ? (ENDS[bizStatus] ?? '') : '';

/** The words of the source system, else those of a known status; an unknown status has its phase too. @param {Stated} matter */
export function statusText({ phase, bizStatus, externalStatusLabel }) {
  const phaseWords = sayName(PHASES, phase);
  if (phase === 'DELETED') return phaseWords;
  if (externalStatusLabel) return externalStatusLabel;
  const isKnown = Object.hasOwn(STATUSES, bizStatus);
  return isKnown ? sayName(STATUSES, bizStatus) : `${phaseWords} · ${bizStatus}`;
}

/** @param {{ matter: Stated }} props */
export const Status = ({ matter }) =>
  h(
    'span',
    {
      class: `badge ${toneOfStatus(matter)}`,
      title: `${sayName(PHASES, matter.phase)} · ${matter.bizStatus}`,
    },
    h('bdi', {}, statusText(matter)),
  );
