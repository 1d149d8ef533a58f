/** Reads a report about the pushes of a system with signed queries. */

import type { FailedRow, Failures } from '../../../src/protocol/failures';
import type { PushStats } from '../../../src/protocol/push-stats';
import { UNAUTHENTICATED_REASONS } from '../../../src/protocol/reasons';
import { formatLocal } from '../../../src/protocol/time';
import type { MatterPushClient } from '../../client/matter-push-client';
import { countedParts, type ReportWindow, windowBefore } from './windows';

/** Numbers of pushes in a window. Times are ISO-8601 in UTC, as in the answers of the service. */
export interface ReportCounts {
  readonly from: string;
  readonly to: string;
  readonly received: number;
  /** Answered with code 0. */
  readonly written: number;
  readonly failed: number;
  /** Matters whose last push failed. */
  readonly open: number;
  /** Failed pushes without a valid signature. Their matters are unknown, so they are not among the open ones. */
  readonly unauthenticated: number;
  /** False if the service could not count everything: the numbers are minimums. */
  readonly complete: boolean;
}

/** Open failures with the same reason. */
export interface OpenReason {
  readonly reason: string;
  readonly matters: number;
  readonly pushes: number;
  /** Receipt of the oldest failed push, and the request id of the newest failed push of the same matter. */
  readonly oldest: string;
  readonly requestId: string;
}

/** Pushes that were rejected for their signature, their time or their secret. */
export interface Unauthenticated {
  readonly reason: string;
  readonly pushes: number;
}

export interface PushReport extends ReportCounts {
  readonly systemCode: string;
  readonly timeZone: string;
  /** Most matters first. */
  readonly reasons: readonly OpenReason[];
  /** Most pushes first. */
  readonly unauthenticatedReasons: readonly Unauthenticated[];
  /** Batches rejected as a whole. The log does not show whether they were sent again. */
  readonly refusedBatches: number;
  /** Failed pushes without an entry in the log. */
  readonly notRecorded: number;
  readonly before: ReportCounts;
  /** Address at which the console lists the failures. */
  readonly link: string;
}

export interface ReportSubject {
  readonly window: ReportWindow;
  readonly systemCode: string;
  /** PORTAL_TIME_ZONE of the service. */
  readonly timeZone: string;
  /** Address at which people reach the service. */
  readonly publicUrl: string;
}

type Queries = Pick<MatterPushClient, 'query'>;

export async function readReport(client: Queries, subject: ReportSubject): Promise<PushReport> {
  const { window, systemCode, timeZone, publicUrl } = subject;
  const before = windowBefore(window, timeZone);
  const [counted, open] = await readWindow(client, window, timeZone);
  const [countedBefore, openBefore] = await readWindow(client, before, timeZone);
  return {
    systemCode,
    timeZone,
    ...countsOf(window, counted, open),
    reasons: reasonsOf(open.rows),
    unauthenticatedReasons: unauthenticatedOf(counted),
    refusedBatches: open.refusedBatches,
    notRecorded: open.notRecorded,
    before: countsOf(before, countedBefore, openBefore),
    link: linkTo(publicUrl, window, timeZone),
  };
}

/** One query after the other, because the service limits the parallel queries of a system. */
async function readWindow(client: Queries, window: ReportWindow, timeZone: string) {
  const counted: PushStats[] = [];
  for (const { from, to, by } of countedParts(window, timeZone)) {
    counted.push(await client.query('push-logs/stats', { ...asQuestion({ from, to }), by }));
  }
  return [counted, await readOpen(client, window)] as const;
}

/** The open failures of a window. */
interface Open {
  /** One for each matter; without a matter, for each idempotency key or push. */
  readonly rows: readonly FailedRow[];
  readonly refusedBatches: number;
  readonly notRecorded: number;
  readonly complete: boolean;
}

/** Matters of a page, and the maximum number of pages. */
const PAGE = 500;
const MAX_PAGES = 20;

async function readOpen(client: Queries, window: ReportWindow): Promise<Open> {
  const bySubject = new Map<string, FailedRow>();
  const question = { ...asQuestion(window), stillFailed: true, limit: PAGE };
  let cursor: string | null = null;
  let [pages, refusedBatches, notRecorded] = [0, 0, 0];
  do {
    const page: Failures = await client.query('push-logs/failures', { ...question, cursor });
    for (const row of page.rows) addRow(bySubject, row);
    refusedBatches += page.refusedBatches;
    notRecorded = page.notRecorded;
    cursor = page.nextCursor;
    pages += 1;
  } while (cursor !== null && pages < MAX_PAGES);
  return { rows: [...bySubject.values()], refusedBatches, notRecorded, complete: cursor === null };
}

/** Pages go back in time, and a matter may be on several pages: its newest failure counts. */
function addRow(bySubject: Map<string, FailedRow>, row: FailedRow): void {
  const { externalId, idempotencyKey, clientId, operation, requestId } = row;
  const subject =
    externalId === null ? [clientId, operation, idempotencyKey ?? requestId] : [externalId];
  const name = JSON.stringify(subject);
  const newer = bySubject.get(name);
  const { failures, firstSeen } = row;
  const merged = newer && { ...newer, failures: newer.failures + failures, firstSeen };
  bySubject.set(name, merged ?? row);
}

const asQuestion = ({ from, to }: ReportWindow) => ({ from: iso(from), to: iso(to) });
const iso = (at: number) => new Date(at).toISOString();

function countsOf(window: ReportWindow, counted: readonly PushStats[], open: Open): ReportCounts {
  const sum = (name: 'pushes' | 'succeeded' | 'failed') =>
    counted.reduce((all, { total }) => all + total[name], 0);
  return {
    ...asQuestion(window),
    received: sum('pushes'),
    written: sum('succeeded'),
    failed: sum('failed'),
    open: open.rows.length,
    unauthenticated: unauthenticatedOf(counted).reduce((all, { pushes }) => all + pushes, 0),
    complete: open.complete && counted.every(({ complete }) => complete),
  };
}

function unauthenticatedOf(counted: readonly PushStats[]): Unauthenticated[] {
  const rows = counted.flatMap((stats) => stats.rows);
  return UNAUTHENTICATED_REASONS.map((reason) => ({
    reason,
    pushes: rows.reduce((all, row) => all + (row.reason === reason ? row.pushes : 0), 0),
  }))
    .filter(({ pushes }) => pushes > 0)
    .sort((a, b) => b.pushes - a.pushes);
}

function reasonsOf(rows: readonly FailedRow[]): OpenReason[] {
  const byReason = new Map<string, OpenReason>();
  for (const { reason, failures, firstSeen, requestId } of rows) {
    const known = byReason.get(reason);
    const isOldest = !known || firstSeen < known.oldest;
    byReason.set(reason, {
      reason,
      matters: (known?.matters ?? 0) + 1,
      pushes: (known?.pushes ?? 0) + failures,
      oldest: isOldest ? firstSeen : known.oldest,
      requestId: isOldest ? requestId : known.requestId,
    });
  }
  return [...byReason.values()].sort(
    (a, b) => b.matters - a.matters || a.reason.localeCompare(b.reason),
  );
}

/** The console reads the times of its address as local times of the portal. */
function linkTo(publicUrl: string, { from, to }: ReportWindow, timeZone: string): string {
  const local = (at: number) => formatLocal(Math.floor(at / 1_000) * 1_000, timeZone);
  const range = new URLSearchParams({ range: 'custom', from: local(from), to: local(to) });
  return `${publicUrl}/console#/failures?${range}`;
}
