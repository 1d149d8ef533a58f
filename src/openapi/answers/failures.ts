/** Failed pushes: by reason and field, and by matter. */
import { z } from 'zod';
import { count, instant, requestId, type ShapeOf } from '../../protocol/answer-shape';
import type {
  FailedRow,
  FailureGroup,
  FailureSample,
  Failures,
  FailureTotals,
  Mended,
} from '../../protocol/failures';

const totals = () =>
  ({
    pushes: count(),
    matters: count(),
    stillFailed: count(),
  }) satisfies ShapeOf<FailureTotals>;

export function failureSchemas() {
  const sample = z.object({
    requestId: requestId(),
    externalId: z.string().nullable(),
  } satisfies ShapeOf<FailureSample>);
  const group = z.object({
    reason: z.string(),
    field: z.string().nullable(),
    ...totals(),
    firstSeen: instant(),
    lastSeen: instant(),
    samples: z.array(sample),
  } satisfies ShapeOf<FailureGroup>);
  const mended = z.object({
    requestId: requestId(),
    at: instant(),
    outcome: z.string(),
  } satisfies ShapeOf<Mended>);
  const row = z.object({
    requestId: requestId(),
    clientId: z.string(),
    operation: z.string(),
    externalId: z.string().nullable(),
    idempotencyKey: z.string().nullable(),
    reason: z.string(),
    fields: z.array(z.string()),
    failures: count(),
    firstSeen: instant(),
    lastSeen: instant(),
    mended: mended.nullable(),
  } satisfies ShapeOf<FailedRow>);
  const failures = z.object({
    totals: z.object(totals()),
    groups: z.array(group),
    moreGroups: count(),
    rows: z.array(row),
    notRecorded: count(),
    complete: z.boolean(),
    nextCursor: z.string().nullable(),
    keptSince: instant(),
  } satisfies ShapeOf<Failures>);
  return {
    FailureSample: sample,
    FailureGroup: group,
    Mended: mended,
    FailedRow: row,
    Failures: failures,
  };
}
