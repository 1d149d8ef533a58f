/** What a day was. */
import type { PushStats } from '../../protocol/push-stats';

const HOUR = { start: '2026-11-21T01:00:00.000Z', operation: 'upsert', notRecorded: 0 } as const;

export const STATS: PushStats = {
  timeZone: 'Asia/Shanghai',
  by: 'hour',
  from: '2026-11-20T16:00:00.000Z',
  to: '2026-11-21T16:00:00.000Z',
  total: { pushes: 55582, succeeded: 55483, failed: 99, notRecorded: 0, p50Ms: 21, p95Ms: 48 },
  rows: [
    { ...HOUR, outcome: 'CREATED', reason: null, pushes: 55483, p50Ms: 21, p95Ms: 48 },
    { ...HOUR, outcome: null, reason: 'VALIDATION_FAILED', pushes: 99, p50Ms: 9, p95Ms: 16 },
  ],
  complete: true,
};
