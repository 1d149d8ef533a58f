/** Builds the history of the last hour for the operator page: pushes per minute, waiting pushes, and events. */

import type { Connection } from 'mongoose';
import { systemClock, withTimeout } from '../concurrency/timing';
import type { ServerName } from '../infra/outages';
import { isReason } from '../protocol/errors';
import { isFailure } from '../status/recent-pushes';
import type { ServiceStatus } from '../status/status';
import { type AuditEntry, createAuditTrail } from '../storage/audit';
import { createPushCountReader, type PeriodCounts } from '../storage/push-log';
import { HISTORY, type NotedOutage, type QueueHistory, type QueueSample } from './queue-history';

export type MinuteCounts = Readonly<Record<PushKind, number>> & {
  /** Start of the minute, epoch milliseconds. */
  readonly at: number;
};

export interface History {
  /** Epoch milliseconds. */
  readonly from: number;
  /** Epoch milliseconds. */
  readonly to: number;
  /** Null if MongoDB is unavailable. */
  readonly minutes: readonly MinuteCounts[] | null;
  /** True if only the newest push counts were read. */
  readonly isCut: boolean;
  /** Only samples since the start of this process. */
  readonly queue: readonly QueueSample[];
  /** Events, oldest first. */
  readonly marks: readonly HistoryEvent[];
  /** Whether `marks` includes the audit trail. */
  readonly hasAudit: boolean;
}

const MINUTE = 60_000;
/** Maximum milliseconds for each read of the database. */
const TIMEOUT = 4_000;
/** Maximum number of audit entries on the page. */
const MAX_ENTRIES = 50;

type Read = Pick<History, 'minutes' | 'isCut'> & {
  readonly audit: EventSources['audit'];
};

export function createHistory(mongo: Connection, queue: QueueHistory) {
  const counts = createPushCountReader(mongo);
  const trail = createAuditTrail(mongo, systemClock);
  const read = async (from: number, to: number): Promise<Read> => {
    const inTime = <T>(call: Promise<T>) => withTimeout(call, TIMEOUT).catch(() => null);
    const [counted, entries] = await Promise.all([
      inTime(counts.read({ from, to }, 'minute')),
      inTime(trail.list({ since: from }, MAX_ENTRIES)),
    ]);
    const minutes = counted && countByMinute(counted, from, to);
    return { minutes, isCut: counted?.cutAt !== undefined, audit: entries };
  };
  return {
    /** Never fails, and ends within TIMEOUT milliseconds. */
    read: async (): Promise<Read & Pick<History, 'from' | 'to'>> => {
      const to = Math.ceil(systemClock() / MINUTE) * MINUTE;
      const from = to - HISTORY;
      return { from, to, ...(await read(from, to)) };
    },
    /** Adds the queue history, the outages and the process starts to a result of `read`. */
    complete: (
      { audit, ...rest }: Read & Pick<History, 'from' | 'to'>,
      status: ServiceStatus,
    ): History => {
      const outages = queue.outages();
      const marks = eventsOf({ audit, outages, status, from: rest.from });
      return { ...rest, queue: queue.samples(), marks, hasAudit: audit !== null };
    },
  };
}

function countByMinute({ counts }: PeriodCounts, from: number, to: number): MinuteCounts[] {
  const none = Object.fromEntries(PUSH_KINDS.map((kind) => [kind, 0])) as Record<PushKind, number>;
  const minutes = Array.from({ length: (to - from) / MINUTE }, (_, n) => ({
    ...none,
    at: from + n * MINUTE,
  }));
  for (const { start, result, pushes = 0 } of counts) {
    const minute = minutes[Math.floor((start - from) / MINUTE)];
    if (minute) minute[pushKindOf(result)] += pushes;
  }
  return minutes;
}

export const PUSH_KINDS = ['written', 'unchanged', 'rejected', 'failed'] as const;
export type PushKind = (typeof PUSH_KINDS)[number];

const UNCHANGED: readonly string[] = ['STALE_IGNORED', 'REPLAYED', 'ALREADY_DELETED'];

/** @param result an outcome, REPLAYED, or a reason */
export function pushKindOf(result: string): PushKind {
  if (isFailure(result)) return 'failed';
  if (isReason(result)) return 'rejected';
  return UNCHANGED.includes(result) ? 'unchanged' : 'written';
}

/** `at` and `until` in epoch milliseconds. */
export type HistoryEvent = { readonly at: number } & (
  | {
      readonly kind: 'outage';
      readonly server: ServerName;
      /** Null if the outage continues or the end is unknown. */
      readonly until: number | null;
      readonly error: string;
    }
  | {
      /** Processes of one version that started together: a deployment or a restart. */
      readonly kind: 'start';
      readonly version: string;
      readonly processes: readonly string[];
    }
  | ({ readonly kind: 'audit' } & Pick<AuditEntry, 'operator' | 'command' | 'subject' | 'outcome'>)
);

interface EventSources {
  /** Null if MongoDB is unavailable. */
  readonly audit: readonly AuditEntry[] | null;
  readonly outages: readonly NotedOutage[];
  readonly status: ServiceStatus;
  /** Epoch milliseconds. */
  readonly from: number;
}

/** Process starts of the same version within this many milliseconds form one `start` event. */
const DEPLOYMENT_SPAN = 60_000;
/** Two records of a server describe the same outage if their starts differ by less than this many milliseconds. */
const SAME_OUTAGE = 5_000;

function eventsOf({ audit, outages, status, from }: EventSources): HistoryEvent[] {
  const entries = (audit ?? []).map(
    ({ at, operator, command, subject, outcome }): HistoryEvent => ({
      ...{ kind: 'audit', at: at.getTime(), operator, command, subject, outcome },
    }),
  );
  return [...outagesOf(outages, status), ...startsOf(status), ...entries]
    .filter(
      (mark) => mark.at >= from || (mark.kind === 'outage' && hasNotEndedBefore(mark.until, from)),
    )
    .sort((a, b) => a.at - b.at);
}

const hasNotEndedBefore = (until: number | null, from: number) => until === null || until >= from;

function outagesOf(noted: readonly NotedOutage[], { servers }: ServiceStatus): HistoryEvent[] {
  const reported = servers.flatMap(({ server, lastOutage }) => {
    if (!lastOutage) return [];
    const { since, lastedMs, error } = lastOutage;
    const at = Date.parse(since);
    return [{ server, since: at, until: lastedMs === null ? null : at + lastedMs, error }];
  });
  const others = noted.filter(
    ({ server, since }) =>
      !reported.some((one) => one.server === server && Math.abs(one.since - since) < SAME_OUTAGE),
  );
  return [...reported, ...others].map(({ server, since, until, error }) => ({
    ...{ kind: 'outage', at: since, server, until, error },
  }));
}

function startsOf({ at, processes }: ServiceStatus): HistoryEvent[] {
  const now = Date.parse(at);
  const starts = (processes ?? [])
    .map(({ name, version, uptimeMs, silentMs }) => ({
      ...{ at: now - uptimeMs - silentMs, name, version },
    }))
    .sort((a, b) => a.at - b.at);
  const groups: { at: number; version: string; processes: string[] }[] = [];
  for (const { at: started, name, version } of starts) {
    const group = groups.find((it) => it.version === version && started - it.at < DEPLOYMENT_SPAN);
    if (group) group.processes.push(name);
    else groups.push({ at: started, version, processes: [name] });
  }
  return groups.map((group) => ({ kind: 'start', ...group }));
}
