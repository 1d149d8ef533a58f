/** Reads the numbers of pushes in the last minutes, by result and by client. */
import type { Connection } from 'mongoose';
import { addDurations, type Durations, percentile } from '../infra/durations';
import { isReason, PushError } from '../protocol/errors';
import { createPushCountReader, type PeriodCount } from '../storage/push-log';

export interface RecentPushes {
  /** The numbers cover the last `spanMs` milliseconds. */
  readonly spanMs: number;
  /** Most frequent result first. */
  readonly results: readonly ResultStatus[];
  readonly clients: ReadonlyMap<string, ClientPushes>;
}

export interface ResultStatus {
  /** Outcome of an accepted push, or reason of a rejected push. */
  readonly result: string;
  readonly count: number;
  /** Median milliseconds from receipt to answer; null if no durations are known. */
  readonly p50: number | null;
  readonly p95: number | null;
}

export interface ClientPushes {
  readonly pushes: number;
  /** Pushes that failed because of the service (`isFailure`). */
  readonly failed: number;
  /** All other rejected pushes, such as pushes with an invalid body. */
  readonly rejected: number;
  readonly lastReason: string | null;
  /** Milliseconds since the last push with `lastReason`. */
  readonly lastReasonMs: number | null;
}

export const NO_PUSHES: ClientPushes = {
  ...{ pushes: 0, failed: 0, rejected: 0, lastReason: null, lastReasonMs: null },
};

const MINUTE = 60_000;
/** Number of counted minutes before the current minute. */
const MINUTES = 4;

/** Whether the service caused the result. CLIENT_PAUSED is no failure, because an operator paused the client. */
export const isFailure = (result: string): boolean =>
  isReason(result) && result !== 'CLIENT_PAUSED' && new PushError(result).code >= 500;

export async function readRecentPushes(connection: Connection, now: number): Promise<RecentPushes> {
  const from = Math.floor(now / MINUTE) * MINUTE - MINUTES * MINUTE;
  // The window includes the next minute, because the clocks of web processes can be fast.
  const window = { from, to: now + MINUTE };
  const { counts } = await createPushCountReader(connection).read(window, 'minute');
  return { spanMs: now - from, results: resultsOf(counts), clients: clientsOf(counts, now) };
}

function resultsOf(counts: readonly PeriodCount[]): ResultStatus[] {
  const sums = new Map<string, { count: number; times: Record<string, number> }>();
  for (const { result, pushes = 0, times = {} } of counts) {
    const sum = sums.get(result) ?? { count: 0, times: {} };
    sums.set(result, sum);
    sum.count += pushes;
    addDurations(sum.times, times);
  }
  return [...sums]
    .filter(([, { count }]) => count > 0)
    .sort(([, a], [, b]) => b.count - a.count)
    .map(([result, { count, times }]) => ({
      ...{ result, count, p50: wholeMs(times, 0.5), p95: wholeMs(times, 0.95) },
    }));
}

function wholeMs(times: Durations, share: number): number | null {
  const ms = percentile(times, share);
  return ms === undefined ? null : Math.round(ms);
}

function clientsOf(counts: readonly PeriodCount[], now: number): Map<string, ClientPushes> {
  const clients = new Map<string, ClientPushes>();
  for (const { clientId, result, latest, pushes = 0 } of counts) {
    const client = clients.get(clientId) ?? NO_PUSHES;
    const isProblem = isReason(result);
    const ageMs = Math.max(0, now - latest);
    const isLast = isProblem && ageMs <= (client.lastReasonMs ?? Number.POSITIVE_INFINITY);
    clients.set(clientId, {
      pushes: client.pushes + pushes,
      failed: client.failed + (isFailure(result) ? pushes : 0),
      rejected: client.rejected + (isProblem && !isFailure(result) ? pushes : 0),
      lastReason: isLast ? result : client.lastReason,
      lastReasonMs: isLast ? ageMs : client.lastReasonMs,
    });
  }
  return clients;
}
