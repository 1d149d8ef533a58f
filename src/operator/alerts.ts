/**
 * Computes the alerts of the operator page. Names, limits and runbook sections must match the Prometheus rules in
 * `ops/alerts`.
 */

import { isFailure, type ResultStatus } from '../status/recent-pushes';
import type { ServiceStatus } from '../status/status';

export interface ShownAlert {
  readonly name: string;
  readonly severity: 'critical' | 'warning' | 'info';
  readonly runbook: string;
  /** The affected server, or the rejection reason; null for other alerts. */
  readonly about: string | null;
  /** The measured value; null if the alert has no limit. */
  readonly value: number | null;
}

/**
 * Units: seconds for PartitionStuck and OldestWaiting; a share (0 to 1) for Failing; results per second for Timeouts,
 * Shedding, RateLimited and BadSignatures.
 */
export const LIMITS = {
  MatterPushPartitionStuck: 30,
  MatterPushOldestWaiting: 5,
  MatterPushFailing: 0.05,
  MatterPushTimeouts: 0.1,
  MatterPushShedding: 0.1,
  MatterPushRateLimited: 1,
  MatterPushBadSignatures: 1,
} as const;

/** The reasons for which the service rejects requests under high load. */
export const SHED = [
  ...['BACKLOG_FULL', 'PARTITION_FULL', 'PARTITION_BYTES_FULL', 'QUEUE_MEMORY_FULL'],
  ...['TOO_MANY_IN_FLIGHT', 'IN_FLIGHT_BYTES_FULL', 'TOO_MANY_QUERIES'],
];

/** Minimum seconds over which a rate is computed. */
const MIN_SECONDS = 60;

export function alertsOf({ servers, processes, partitions, flow }: ServiceStatus): ShownAlert[] {
  const down = servers
    .filter(({ isReachable }) => !isReachable)
    .map(({ server }) => alert('MatterPushServerDown', 'critical', null, server));
  const isLiveWorker = ({ type, isSilent }: { type: string; isSilent: boolean }) =>
    type === 'worker' && !isSilent;
  const noWorker = processes && !processes.some(isLiveWorker);
  const ages = partitions?.flatMap(({ oldestMs }) => oldestMs ?? []) ?? [];
  return [
    ...down,
    ...(noWorker ? [alert('MatterPushNoWorker', 'critical', null)] : []),
    ...ageAlerts(Math.max(0, ...ages) / 1_000),
    ...(flow ? flowAlerts(flow.results, Math.max(MIN_SECONDS, flow.spanMs / 1_000)) : []),
  ];
}

function ageAlerts(seconds: number): ShownAlert[] {
  const { MatterPushPartitionStuck: stuck, MatterPushOldestWaiting: old } = LIMITS;
  if (seconds > stuck) return [alert('MatterPushPartitionStuck', 'critical', seconds)];
  return seconds > old ? [alert('MatterPushOldestWaiting', 'warning', seconds)] : [];
}

function flowAlerts(results: readonly ResultStatus[], seconds: number): ShownAlert[] {
  const countOf = (matches: (result: string) => boolean) =>
    results.filter(({ result }) => matches(result)).reduce((sum, { count }) => sum + count, 0);
  const failedShare =
    countOf(isFailure) /
    Math.max(
      1,
      countOf(() => true),
    );
  const rate = (...reasons: string[]) => countOf((it) => reasons.includes(it)) / seconds;
  const shed = SHED.map((reason) =>
    alertIfOver('MatterPushShedding', 'warning', rate(reason), reason),
  );
  return [
    alertIfOver('MatterPushFailing', 'critical', failedShare),
    alertIfOver('MatterPushTimeouts', 'warning', rate('CONFIRMATION_TIMEOUT')),
    ...shed,
    alertIfOver('MatterPushBadSignatures', 'warning', rate('SIGNATURE_MISMATCH')),
    alertIfOver('MatterPushRateLimited', 'info', rate('RATE_LIMITED')),
  ].flat();
}

const alertIfOver = (
  name: keyof typeof LIMITS,
  severity: ShownAlert['severity'],
  value: number,
  about: string | null = null,
) => (value > LIMITS[name] ? [alert(name, severity, value, about)] : []);

const alert = (
  name: string,
  severity: ShownAlert['severity'],
  value: number | null,
  about: string | null = null,
): ShownAlert => ({
  ...{ name, severity, about, value },
  runbook: `docs/alerts.md#${name.toLowerCase()}`,
});
