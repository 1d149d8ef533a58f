/** `push-logs/stats`: how many pushes ended how, when, and how long they took. */
import { z } from 'zod';
import { OPERATIONS } from '../domain/operation';
import { anyInstant, nullIsAbsent } from './fields';
import { absentMeans } from './json-schema';
import { oneOrMoreWords, orderedWindow } from './query-body';

export const STATS_BUCKETS = ['minute', 'hour', 'day'] as const;
export type StatsBucket = (typeof STATS_BUCKETS)[number];

/** @param timeZone zone in which local date-times are read (PORTAL_TIME_ZONE) */
export function statsSchema(timeZone: string) {
  const instant = nullIsAbsent(anyInstant(timeZone));
  const body = z.object({
    from: instant,
    to: instant,
    by: nullIsAbsent(z.enum(STATS_BUCKETS))
      .transform((value) => value ?? 'hour')
      .meta(absentMeans('hour')),
    operation: nullIsAbsent(z.enum(OPERATIONS)),
    outcome: oneOrMoreWords,
    reason: oneOrMoreWords,
  });
  return orderedWindow(body, 'from', 'to');
}

interface Times {
  /** Milliseconds from receipt to answer, to within 15 %; null: there were no pushes. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

export interface StatsTotal extends Times {
  readonly pushes: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Those of them that have no entry in the push log. */
  readonly notRecorded: number;
}

export interface StatsRow extends Times {
  /** Where the minute, hour or day begins: ISO-8601 in UTC. */
  readonly start: string;
  readonly operation: string;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly pushes: number;
  readonly notRecorded: number;
}

/** `data` of push-logs/stats. */
export interface PushStats {
  readonly timeZone: string;
  readonly by: StatsBucket;
  /** The window that was counted: whole minutes, hours or days. ISO-8601 in UTC. */
  readonly from: string;
  readonly to: string;
  readonly total: StatsTotal;
  /** In the order of time; what did not happen has no row. */
  readonly rows: readonly StatsRow[];
  /** False: there was too much to count; `from` is where the counted part begins. */
  readonly complete: boolean;
}
