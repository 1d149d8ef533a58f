/** A page of the push log, as the caller sees it. */
import { z } from 'zod';
import type { FieldChange } from '../../domain/changes';
import type { Diagnosis, Difference, Finding } from '../../protocol/diagnosis';
import type { EntryView, LogPage, PageEntry } from '../../protocol/entry-view';
import { ALL_CAUSES } from '../../signature-diagnosis/causes';
import { fieldError, warning } from './envelope';
import { count, instant, matterId, oneOf, requestId, type ShapeOf } from './shape';

const names = () => z.array(z.string()).optional();
const value = () => z.union([z.string(), z.boolean(), z.null()]).optional();

export function entrySchemas() {
  const change = z.object({
    field: z.string(),
    from: value(),
    to: value(),
    added: names(),
    removed: names(),
    unread: names(),
  } satisfies ShapeOf<FieldChange>);
  const difference = z.object({
    offset: count(),
    sent: z.string(),
    signed: z.string(),
  } satisfies ShapeOf<Difference>);
  const finding = z.object({
    cause: z.enum(ALL_CAUSES),
    explanation: z.string(),
    fix: z.string(),
    difference: difference.optional(),
  } satisfies ShapeOf<Finding>);
  const diagnosis = z.object({
    findings: z.array(finding),
    tried: count(),
    complete: z.boolean(),
  } satisfies ShapeOf<Diagnosis>);
  const entry = z.object({
    requestId: requestId(),
    clientId: z.string(),
    systemCode: z.string().nullable(),
    operation: z.string(),
    externalId: z.string().nullable(),
    idempotencyKey: z.string().nullable(),
    attempt: z.int().min(1).max(100).nullable(),
    bodyHash: z.string().regex(/^[0-9a-f]{64}$/),
    bodySize: count(),
    secretId: z.string().nullable(),
    receivedAt: instant(),
    deadlineAt: instant(),
    queuedAt: instant().nullable(),
    startedAt: instant().nullable(),
    settledAt: instant().nullable(),
    state: oneOf<EntryView['state']>({
      QUEUED: true,
      PERSISTED: true,
      REPLAYED: true,
      REFUSED: true,
      EXPIRED: true,
    }),
    outcome: z.string().nullable(),
    reason: z.string().nullable(),
    problems: z.array(fieldError),
    warnings: z.array(warning),
    stale: z.object({ sent: instant(), stored: instant() }).nullable(),
    matterId: matterId().nullable(),
    revision: count().nullable(),
    changes: z.array(change),
    duplicateOf: requestId().nullable(),
    resentFrom: requestId().nullable(),
    mark: z.literal('KEY_REUSED').nullable(),
    traceId: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .nullable(),
    body: z.string().nullable().optional(),
    diagnosis: diagnosis.optional(),
  } satisfies ShapeOf<PageEntry>);
  const page = z.object({
    entries: z.array(entry),
    nextCursor: z.string().nullable(),
    notRecorded: count().optional(),
    count: z.object({ value: count(), exact: z.boolean() }).optional(),
  } satisfies ShapeOf<LogPage>);
  return {
    LogEntry: entry,
    FieldChange: change,
    Diagnosis: diagnosis,
    Finding: finding,
    BodyDifference: difference,
    LogPage: page,
  };
}
