/** How the deployment is now: servers, processes, partitions, pushes, and what could be sent again. */
import { h } from 'preact';
import { say, sayName, sayWith } from '../console/kit/speech.js';
import { Card, numberText, Quiet, spanText, Table, timeText, Unknown } from './parts.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').OperatorStatus} OperatorStatus */

/** Rows of partitions that are shown: those whose oldest push waits longest. */
const ROWS = 40;

/** @param {{ servers: OperatorStatus['servers'] }} props */
export function Servers({ servers }) {
  const head = [WORDS.server, WORDS.state, WORDS.version, WORDS.role, WORDS.lastOutage].map(say);
  const rows = servers.map(({ server, isReachable, error, version, role, lastOutage }) => {
    const reached = say(isReachable ? WORDS.reachable : WORDS.away);
    const state = error === null ? reached : `${reached}: ${error}`;
    const lasted =
      lastOutage &&
      (lastOutage.lastedMs === null ? say(WORDS.itLasts) : spanText(lastOutage.lastedMs));
    const outage = lastOutage ? `${timeText(lastOutage.since)}, ${lasted}` : '–';
    const light = h('span', { class: `light ${error === null ? 'good' : 'bad'}` }, state);
    return { key: server, cells: [server, light, version ?? '–', role ?? '–', outage] };
  });
  return h(
    Card,
    { id: 'servers', title: say(WORDS.servers) },
    h(Table, { label: say(WORDS.servers), head, rows }),
  );
}

/** @param {{ status: OperatorStatus }} props */
export function Processes({ status: { at, processes, partitions } }) {
  const title = say(WORDS.processes);
  if (!processes) return h(Card, { id: 'processes', title }, h(Unknown, { server: 'redis' }));
  const head = [
    WORDS.process,
    WORDS.state,
    WORDS.version,
    WORDS.since,
    WORDS.work,
    WORDS.partitionsHeld,
  ].map(say);
  const rows = processes.map(({ name, state, isSilent, silentMs, version, uptimeMs, work }) => {
    const shown = isSilent
      ? sayWith(WORDS.silent, spanText(silentMs))
      : sayName(WORDS.states, state);
    const light = h(
      'span',
      { class: `light ${isSilent ? 'bad' : state === 'ready' ? 'good' : 'even'}` },
      shown,
    );
    const doing = Object.entries(work).map(([what, count]) => workText(what, count));
    const held =
      partitions?.filter(({ owner }) => owner === name).map(({ partition }) => partition) ?? [];
    const since = timeText(Date.parse(at) - silentMs - uptimeMs);
    const cells = [
      name,
      light,
      version,
      since,
      isSilent ? '–' : doing.join(', '),
      held.join(', ') || '–',
    ];
    return { key: name, cells };
  });
  const none = h(Quiet, { text: say(WORDS.noProcesses) });
  return h(
    Card,
    { id: 'processes', title },
    rows.length === 0 ? none : h(Table, { label: title, head, rows }),
  );
}

/** @param {string} what @param {number} count */
function workText(what, count) {
  const words = WORDS.works[/** @type {keyof typeof WORDS.works} */ (what)];
  return words ? sayWith(words, count) : `${count} ${what}`;
}

/** @param {{ partitions: OperatorStatus['partitions'] }} props */
export function Partitions({ partitions }) {
  const title = say(WORDS.partitions);
  if (!partitions) return h(Card, { id: 'partitions', title }, h(Unknown, { server: 'redis' }));
  const head = [WORDS.partition, WORDS.waiting, WORDS.oldest, WORDS.job, WORDS.owner].map(say);
  const busy = partitions.filter(({ waiting, job }) => waiting > 0 || job);
  const rows = busy
    .toSorted((a, b) => (b.oldestMs ?? -1) - (a.oldestMs ?? -1))
    .slice(0, ROWS)
    .map(({ partition, waiting, oldestMs, job, owner }) => {
      const state = job ? sayName(WORDS.jobs, job.state) : '–';
      return {
        key: partition,
        cells: [partition, numberText(waiting), spanText(oldestMs), state, owner ?? '–'],
      };
    });
  const about = sayWith(WORDS.partitionsAbout, partitions.length, busy.length);
  return h(
    Card,
    { id: 'partitions', title },
    h(Quiet, { text: about }),
    rows.length > 0 && h(Table, { label: title, head, rows }),
  );
}

/** @param {{ flow: OperatorStatus['flow'] }} props */
export function Flow({ flow }) {
  const title = sayWith(WORDS.flow, flow ? spanText(flow.spanMs) : '–');
  if (!flow) return h(Card, { id: 'flow', title }, h(Unknown, { server: 'mongodb' }));
  const head = [say(WORDS.result), say(WORDS.pushes), 'p50', 'p95'];
  const rows = flow.results.map(({ result, count, p50, p95 }) => ({
    key: result,
    cells: [h('code', {}, result), numberText(count), spanText(p50), spanText(p95)],
  }));
  const none = h(Quiet, { text: say(WORDS.noFlow) });
  return h(
    Card,
    { id: 'flow', title },
    rows.length === 0 ? none : h(Table, { label: title, head, rows }),
  );
}

/** @param {{ found: OperatorStatus['resendable'] }} props */
export function Resendable({ found }) {
  const title = say(WORDS.resendable);
  if (!found) return h(Card, { id: 'resendable', title }, h(Unknown, { server: 'mongodb' }));
  if (found.count === 0)
    return h(Card, { id: 'resendable', title }, h(Quiet, { text: say(WORDS.nothingToResend) }));
  const rows = Object.entries(found.reasons).map(([reason, count]) =>
    h(
      'li',
      { key: reason },
      `${numberText(count)} `,
      h('code', {}, `matterctl log resend --from 24h --reason ${reason}`),
    ),
  );
  return h(
    Card,
    { id: 'resendable', title },
    h('p', {}, found.isCut ? `${say(WORDS.atLeast)} ` : '', numberText(found.count)),
    h('ul', {}, rows),
  );
}
