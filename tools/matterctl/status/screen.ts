/** Formats the output of `matterctl status` as plain text with 80 columns. */

import type { Resendable } from '../../../src/status/mongo-status';
import type {
  ClientStatus,
  ProcessStatus,
  ServerStatus,
  ServiceStatus,
} from '../../../src/status/status';
import { localTime } from '../local-time';
import { type Cell, cut, tableText } from '../print';
import { age } from '../queue-cells';

/**
 * Maximum characters of a process name. A longer name loses its middle, so that the start of the host and the pid
 * remain.
 */
const NAME = 32;
/** Columns of the screen. */
const WIDTH = 80;
/** Maximum characters of a client id and of a reason. */
const CLIENT = 13;
const REASON = 20;
/** Maximum rows of partitions, results and clients. */
const ROWS = 12;

/** @returns the text, without a line feed at its end */
export function screenOf(status: ServiceStatus, timeZone: string): string {
  return [
    `at ${localTime(status.at, timeZone).slice(0, -4)} (all times: ${timeZone})`,
    serverLines(status.servers, timeZone),
    processLines(status.processes),
    partitionLines(status),
    flowLines(status),
    clientLines(status.clients, timeZone),
    resendLines(status.resendable),
  ]
    .join('\n\n')
    .replace(/ +$/gm, '');
}

function serverLines(servers: readonly ServerStatus[], timeZone: string): string {
  const rows = servers.map((one): Cell[] => {
    const { server, isReachable, version, role, lastOutage } = one;
    const began = lastOutage && localTime(lastOutage.since, timeZone).slice(5, -4);
    const length = lastOutage?.lastedMs === null ? 'it lasts' : age(lastOutage?.lastedMs ?? null);
    const outage = began && `${began}, ${length}`;
    return [server, isReachable ? 'reachable' : 'AWAY', version, role, outage];
  });
  const errors = servers.flatMap(({ server, error }) =>
    error === null ? [] : [`${server}: ${cut(error, WIDTH - server.length - 2)}`],
  );
  return [tableText(['SERVER', 'STATE', 'VERSION', 'ROLE', 'LAST OUTAGE'], rows), ...errors].join(
    '\n',
  );
}

const UNKNOWN = { redis: 'not known without Redis', mongodb: 'not known without MongoDB' };

function processLines(processes: readonly ProcessStatus[] | null): string {
  if (!processes) return `Processes: ${UNKNOWN.redis}.`;
  if (processes.length === 0) return 'Processes: none.';
  const rows = processes.map((one): Cell[] => {
    const { name, state, isSilent, silentMs, version, uptimeMs, work } = one;
    const doing = Object.entries(work).map(([what, count]) => `${count} ${what}`);
    const shown = isSilent ? `SILENT ${age(silentMs)}` : state;
    return [middle(name), shown, version, age(uptimeMs), isSilent ? null : doing.join(', ')];
  });
  return tableText(['PROCESS', 'STATE', 'VERSION', 'UPTIME', 'WORK'], rows);
}

function partitionLines({ partitions }: ServiceStatus): string {
  if (!partitions) return `Partitions: ${UNKNOWN.redis}.`;
  const busy = partitions.filter(({ waiting, job }) => waiting > 0 || job);
  const rows = busy
    .toSorted((a, b) => (b.oldestMs ?? -1) - (a.oldestMs ?? -1))
    .slice(0, ROWS)
    .map(({ partition, waiting, oldestMs, job, owner }): Cell[] => [
      ...[partition, waiting, age(oldestMs), job?.state ?? null],
      owner && middle(owner),
    ]);
  const about = `${partitions.length} partitions, ${busy.length} of them at work:\n`;
  return about + tableText(['PARTITION', 'WAITING', 'OLDEST', 'JOB', 'OWNER'], rows);
}

function flowLines({ flow }: ServiceStatus): string {
  if (!flow) return `Pushes: ${UNKNOWN.mongodb}.`;
  const span = age(flow.spanMs);
  if (flow.results.length === 0) return `Pushes: none was answered in the last ${span}.`;
  const rows = flow.results
    .slice(0, ROWS)
    .map(({ result, count, p50, p95 }): Cell[] => [result, count, age(p50), age(p95)]);
  const head = ['RESULT', 'PUSHES', 'P50', 'P95'];
  return `Pushes that were answered in the last ${span}:\n${tableText(head, rows)}`;
}

function clientLines(clients: readonly ClientStatus[] | null, timeZone: string): string {
  if (!clients) return `Clients: ${UNKNOWN.mongodb}.`;
  if (clients.length === 0) return 'Clients: none.';
  const shown = [...clients].sort((a, b) => weight(b) - weight(a)).slice(0, ROWS);
  const rows = shown.map((client): Cell[] => {
    const { clientId, state, pushes, failed, rejected, lastReason, lastReasonMs } = client;
    const reason = lastReason && cut(lastReason, REASON);
    return [cut(clientId, CLIENT), state, pushes, failed, rejected, reason, age(lastReasonMs)];
  });
  const head = ['CLIENT', 'STATE', 'PUSHES', 'FAILED', 'REJECTED', 'LAST REASON', 'AGO'];
  const more = clients.length - shown.length;
  const rest = more > 0 ? [`and ${more} more: matterctl client list`] : [];
  const pauses = shown.flatMap((client) => pauseLine(client, timeZone));
  return [tableText(head, rows), ...pauses, ...rest].join('\n');
}

/** Sorts the clients: those with failures, pauses or rejections first, then those with the most pushes. */
const weight = ({ paused, failed, rejected, pushes }: ClientStatus) =>
  (failed ? 4e9 : 0) + (paused ? 2e9 : 0) + (rejected ? 1e9 : 0) + (pushes ?? 0);

function pauseLine({ clientId, paused }: ClientStatus, timeZone: string): string[] {
  if (!paused) return [];
  const since = localTime(paused.since, timeZone).slice(5, 16);
  const reason = paused.reason ? `: ${paused.reason}` : '';
  return [cut(`${cut(clientId, CLIENT)} is paused since ${since}${reason}`, WIDTH)];
}

function resendLines(found: Resendable | null): string {
  if (!found) return `Could be sent again: ${UNKNOWN.mongodb}.`;
  if (found.count === 0) return 'Could be sent again: nothing of the last day.';
  const rows = Object.entries(found.reasons).map(([reason, count]): Cell[] => [
    `  ${count}`,
    `matterctl log resend --from 24h --reason ${reason}`,
  ]);
  const head = `Could be sent again, of the last day${found.isCut ? ' (at least)' : ''}:`;
  return `${head}\n${tableText(['  PUSHES', 'COMMAND'], rows)}`;
}

function middle(name: string): string {
  if (name.length <= NAME) return name;
  const half = Math.floor((NAME - 1) / 2);
  return `${name.slice(0, half)}…${name.slice(-half)}`;
}
