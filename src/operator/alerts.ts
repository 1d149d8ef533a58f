/**
 * The alerts of ops/alerts that follow from one look: their names, limits and runbook sections are those of
 * the rules, which test/unit/operator/operator-alerts.test.ts compares. Prometheus waits before it fires, this does not.
 */
import type { ResultStatus, Status } from '../status/look';

export interface ShownAlert {
  readonly name: string;
  readonly severity: 'critical' | 'warning' | 'info';
  /** Its section of the runbook. */
  readonly runbook: string;
  /** What it is about, for example a server; null where its name says it. */
  readonly about: string | null;
  /** What is over the limit: seconds, a share, or pushes a second; null where there is no number. */
  readonly value: number | null;
}

export const LIMITS = {
  MatterPushPartitionStuck: 30,
  MatterPushOldestWaiting: 5,
  MatterPushFailing: 0.05,
  MatterPushTimeouts: 0.1,
  MatterPushShedding: 0.1,
  MatterPushRateLimited: 1,
  MatterPushBadSignatures: 1,
} as const;

export const SHED = [
  ...['BACKLOG_FULL', 'PARTITION_FULL', 'PARTITION_BYTES_FULL', 'QUEUE_MEMORY_FULL'],
  ...['TOO_MANY_IN_FLIGHT', 'IN_FLIGHT_BYTES_FULL', 'TOO_MANY_QUERIES'],
];

/** Seconds: a rate of less than this is of a few pushes only. */
const SHORTEST = 60;

/** @param isFailure whether pushes that ended so are the service's fault */
export function alertsOf(
  { servers, processes, partitions, flow }: Status,
  isFailure: (result: string) => boolean,
): ShownAlert[] {
  const down = servers
    .filter(({ isReachable }) => !isReachable)
    .map(({ server }) => alert('MatterPushServerDown', 'critical', null, server));
  const isWorker = ({ type, isSilent }: { type: string; isSilent: boolean }) =>
    type === 'worker' && !isSilent;
  const noWorker = processes && !processes.some(isWorker);
  const ages = partitions?.flatMap(({ oldestMs }) => oldestMs ?? []) ?? [];
  return [
    ...down,
    ...(noWorker ? [alert('MatterPushNoWorker', 'critical', null)] : []),
    ...ofAge(Math.max(0, ...ages) / 1_000),
    ...(flow ? ofFlow(flow.results, Math.max(SHORTEST, flow.spanMs / 1_000), isFailure) : []),
  ];
}

function ofAge(seconds: number): ShownAlert[] {
  const { MatterPushPartitionStuck: stuck, MatterPushOldestWaiting: old } = LIMITS;
  if (seconds > stuck) return [alert('MatterPushPartitionStuck', 'critical', seconds)];
  return seconds > old ? [alert('MatterPushOldestWaiting', 'warning', seconds)] : [];
}

function ofFlow(
  results: readonly ResultStatus[],
  seconds: number,
  isFailure: (result: string) => boolean,
): ShownAlert[] {
  const countOf = (is: (result: string) => boolean) =>
    results.filter(({ result }) => is(result)).reduce((sum, { count }) => sum + count, 0);
  const failing =
    countOf(isFailure) /
    Math.max(
      1,
      countOf(() => true),
    );
  const rate = (...reasons: string[]) => countOf((it) => reasons.includes(it)) / seconds;
  const shed = SHED.map((reason) => over('MatterPushShedding', 'warning', rate(reason), reason));
  return [
    over('MatterPushFailing', 'critical', failing),
    over('MatterPushTimeouts', 'warning', rate('CONFIRMATION_TIMEOUT')),
    ...shed,
    over('MatterPushBadSignatures', 'warning', rate('SIGNATURE_MISMATCH')),
    over('MatterPushRateLimited', 'info', rate('RATE_LIMITED')),
  ].flat();
}

const over = (
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
  runbook: `docs/operations.md#${name.toLowerCase()}`,
});
