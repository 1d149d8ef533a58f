/** What needs somebody: alerts as far as the figures tell, and stuck work. */
import { h } from 'preact';
import { say, sayName, sayWith } from '../console/kit/speech.js';
import { manualOf } from './manual.js';
import { Card, Quiet, Table, Unknown } from './parts.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').OperatorStatus} OperatorStatus */

/** @param {{ alerts: OperatorStatus['alerts'] }} props */
export const Alerts = ({ alerts }) =>
  h(
    Card,
    { id: 'alerts', title: say(WORDS.alerts) },
    h(
      'div',
      { role: 'status' },
      alerts.length === 0
        ? h(Quiet, { text: say(WORDS.noAlerts) })
        : h(
            'ul',
            { class: 'plain' },
            alerts.map((alert) => h(Alert, { key: alert.name + alert.about, alert })),
          ),
    ),
  );

/** @param {{ alert: OperatorStatus['alerts'][number] }} props */
function Alert({ alert: { name, severity, runbook, about, value } }) {
  const title = WORDS.alert[/** @type {'MatterPushNoWorker'} */ (name)] ?? [name, name];
  return h(
    'li',
    { class: severity },
    h('strong', {}, `${sayName(WORDS.severities, severity)}: ${say(title)}`),
    about && h('span', {}, ` (${about})`),
    value !== null && h('span', {}, ` ${valueText(name, value)}`),
    h(
      'div',
      { class: 'quiet' },
      sayWith(WORDS.runbook, ''),
      h('a', { href: manualOf(runbook) }, h('code', {}, runbook)),
    ),
  );
}

/** A share, seconds, or pushes a second. @param {string} name @param {number} value */
function valueText(name, value) {
  if (name === 'MatterPushFailing') return `${(100 * value).toFixed(0)} %`;
  return /Stuck|Waiting/.test(name) ? `${value.toFixed(0)} s` : `${value.toFixed(1)} /s`;
}

/** @param {{ stuck: OperatorStatus['stuck'] }} props */
export function Stuck({ stuck }) {
  const head = [say(WORDS.partition), say(WORDS.why)];
  const rows = (stuck ?? []).map(({ partition, why }) => ({
    key: partition,
    cells: [partition, sayName(WORDS.stuckWhy, why)],
  }));
  return h(
    Card,
    { id: 'stuck', title: say(WORDS.stuck) },
    !stuck
      ? h(Unknown, { server: 'redis' })
      : rows.length === 0
        ? h(Quiet, { text: say(WORDS.noStuck) })
        : h(Table, { label: say(WORDS.stuck), head, rows }),
  );
}
