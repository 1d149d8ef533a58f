/** How many pushes ended how, as the caller sees it. */
import { z } from 'zod';
import { count, instant, oneOf, type ShapeOf } from '../../protocol/answer-shape';
import type { PushStats, StatsBucket, StatsRow, StatsTotal } from '../../protocol/push-stats';

export function statsSchemas() {
  const times = { p50Ms: count().nullable(), p95Ms: count().nullable() };
  const total = z.object({
    pushes: count(),
    succeeded: count(),
    failed: count(),
    notRecorded: count(),
    ...times,
  } satisfies ShapeOf<StatsTotal>);
  const row = z.object({
    start: instant(),
    operation: z.string(),
    outcome: z.string().nullable(),
    reason: z.string().nullable(),
    pushes: count(),
    notRecorded: count(),
    ...times,
  } satisfies ShapeOf<StatsRow>);
  const stats = z.object({
    timeZone: z.string(),
    by: oneOf<StatsBucket>({ minute: true, hour: true, day: true }),
    from: instant(),
    to: instant(),
    total,
    rows: z.array(row),
    complete: z.boolean(),
  } satisfies ShapeOf<PushStats>);
  return { StatsTotal: total, StatsRow: row, PushStats: stats };
}
