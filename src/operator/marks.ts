/** What happened in the last hour, to be marked in its charts: outages, starts of processes, audit entries. */
import type { ServerName } from '../runtime/outages';
import type { Status } from '../status/look';
import type { AuditEntry } from '../storage/audit/audit-model';
import type { NotedOutage } from './queue-history';

/** `at` and `until` in epoch milliseconds. */
export type Mark = { readonly at: number } & (
  | {
      readonly kind: 'outage';
      readonly server: ServerName;
      /** Null while it lasts. */
      readonly until: number | null;
      readonly error: string;
    }
  | {
      /** Processes of one version that started together: a deployment, or a restart. */
      readonly kind: 'start';
      readonly version: string;
      readonly processes: readonly string[];
    }
  | ({ readonly kind: 'audit' } & Pick<AuditEntry, 'operator' | 'command' | 'subject' | 'outcome'>)
);

export interface Happened {
  /** Null where MongoDB does not tell. */
  readonly audit: readonly AuditEntry[] | null;
  /** Those of this process. */
  readonly outages: readonly NotedOutage[];
  readonly status: Status;
  /** Epoch milliseconds. */
  readonly from: number;
}

/** Milliseconds within which starts are one deployment, and within which outages of two processes are one. */
const TOGETHER = 60_000;
const SAME = 5_000;

/** The oldest first. */
export function marksOf({ audit, outages, status, from }: Happened): Mark[] {
  const entries = (audit ?? []).map(
    ({ at, operator, command, subject, outcome }): Mark => ({
      ...{ kind: 'audit', at: at.getTime(), operator, command, subject, outcome },
    }),
  );
  return [...outagesOf(outages, status), ...startsOf(status), ...entries]
    .filter((mark) => mark.at >= from || (mark.kind === 'outage' && isInside(mark.until, from)))
    .sort((a, b) => a.at - b.at);
}

const isInside = (until: number | null, from: number) => until === null || until >= from;

function outagesOf(noted: readonly NotedOutage[], { servers }: Status): Mark[] {
  const told = servers.flatMap(({ server, lastOutage }) => {
    if (!lastOutage) return [];
    const { since, lastedMs, error } = lastOutage;
    const at = Date.parse(since);
    return [{ server, since: at, until: lastedMs === null ? null : at + lastedMs, error }];
  });
  const others = noted.filter(
    ({ server, since }) =>
      !told.some((one) => one.server === server && Math.abs(one.since - since) < SAME),
  );
  return [...told, ...others].map(({ server, since, until, error }) => ({
    ...{ kind: 'outage', at: since, server, until, error },
  }));
}

function startsOf({ at, processes }: Status): Mark[] {
  const now = Date.parse(at);
  const starts = (processes ?? [])
    .map(({ name, version, uptimeMs, silentMs }) => ({
      ...{ at: now - uptimeMs - silentMs, name, version },
    }))
    .sort((a, b) => a.at - b.at);
  const groups: { at: number; version: string; processes: string[] }[] = [];
  for (const { at: started, name, version } of starts) {
    const group = groups.find((it) => it.version === version && started - it.at < TOGETHER);
    if (group) group.processes.push(name);
    else groups.push({ at: started, version, processes: [name] });
  }
  return groups.map((group) => ({ kind: 'start', ...group }));
}
