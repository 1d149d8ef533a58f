/** The envelope of every answer: around `data`, or around a rejection. */
import { z } from 'zod';
import type { Outcome } from '../../domain/decide';
import { instant, matterId, oneOf, requestId, type ShapeOf } from '../../protocol/answer-shape';
import type { Envelope, PushData, Verified } from '../../protocol/envelope';
import { ALL_REASONS, PushError, type Reason } from '../../protocol/errors';
import { fieldError } from '../../protocol/field-error';
import { warning } from '../../protocol/warnings';

export const pushData = () =>
  z.object({
    matterId: matterId(),
    externalId: z.string(),
    outcome: oneOf<Outcome>({
      CREATED: true,
      UPDATED: true,
      STALE_IGNORED: true,
      REVIVED: true,
      DELETED: true,
      ALREADY_DELETED: true,
    }),
    warnings: z.array(warning).optional(),
  } satisfies ShapeOf<PushData>);

export const verified = z.object({
  valid: z.literal(true),
  externalId: z.string().nullable(),
  warnings: z.array(warning),
} satisfies ShapeOf<Verified>);

/** A literal is a number to zod, whatever number it is. */
const INTEGER = { type: 'integer' };

type Success = Omit<Envelope, 'reason' | 'retryable' | 'help' | 'errors' | 'warnings'>;

/** @param data schema of what was asked for */
export const successOf = <T extends z.ZodType>(data: T) =>
  z.object({
    code: z.literal(0).meta(INTEGER),
    message: z.literal('success'),
    data,
    requestId: requestId(),
    timestamp: instant(),
  } satisfies ShapeOf<Success>);

/** @param reason schema of all reasons */
export function errorAnswer(reason: z.ZodType<Reason>) {
  const codes = [...new Set(ALL_REASONS.map((it) => new PushError(it).code))].sort((a, b) => a - b);
  return z.object({
    code: z.literal(codes).meta(INTEGER),
    message: z.string(),
    data: z.null(),
    requestId: requestId(),
    timestamp: instant(),
    reason,
    retryable: z.boolean(),
    help: z.string(),
    errors: z.array(fieldError).optional(),
    warnings: z.array(warning).optional(),
  } satisfies ShapeOf<Envelope>);
}

export const reasonSchema = (): z.ZodType<Reason> => z.enum(ALL_REASONS);
