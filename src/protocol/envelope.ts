/** The JSON envelope of every response (specification 4; decisions, "Envelope and HTTP status"). */
import { z } from 'zod';
import { OUTCOMES } from '../domain/decide';
import { type Answer, matterId } from './answer-shape';
import { about } from './bilingual';
import type { Problem, PushError } from './errors';
import type { FieldError } from './field-error';
import { type Language, render } from './language';
import { MATTER } from './matter-texts';
import { DOCS_PATH } from './paths';
import { type Warning, type WarningInBoth, warning } from './warnings';

/** `data` of a successful push (specification 2.4). */
export const pushData = z
  .object({
    matterId: matterId().meta(MATTER.matterId),
    externalId: z.string().meta(MATTER.externalId),
    outcome: z
      .enum(OUTCOMES)
      .meta(
        about(
          'What became of it. CREATED, UPDATED, DELETED: done. REVIVED: an upsert brought a deleted matter back. STALE_IGNORED: older than what is stored, nothing was changed. ALREADY_DELETED: it was deleted before.',
          '处理结果。CREATED、UPDATED、DELETED 已生效；REVIVED 已删除的事项被 upsert 恢复；STALE_IGNORED 早于已保存的版本，未改变；ALREADY_DELETED 此前已删除。',
        ),
      ),
    warnings: z
      .array(warning)
      .optional()
      .meta(
        about(
          'What was accepted and looks wrong; of unknown fields the first 20',
          '已接受但看起来有问题的内容；未知字段最多列出前 20 个',
        ),
      ),
  })
  .meta(about('What became of a push', '推送结果'));
export type PushData = Answer<typeof pushData>;

/** `data` of a dry run that passes. */
export const verified = z
  .object({
    valid: z.literal(true).meta(about('It would be accepted', '校验通过')),
    externalId: z
      .string()
      .nullable()
      .meta(
        about(
          'The matter that it is about; null: the service would assign an id',
          '所属事项的业务主键；null 表示将由服务分配',
        ),
      ),
    warnings: z
      .array(warning)
      .meta(
        about(
          'What was accepted and looks wrong; of unknown fields the first 20',
          '已接受但看起来有问题的内容；未知字段最多列出前 20 个',
        ),
      ),
  })
  .meta(about('What was found of a push that passes', '校验结果'));
export type Verified = Answer<typeof verified>;

export interface Envelope {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
  readonly requestId: string;
  /** ISO-8601, UTC. */
  readonly timestamp: string;
  readonly reason?: string;
  readonly retryable?: boolean;
  /** Where the reason is explained, below the service's address: `/docs#reason-SIGNATURE_MISMATCH`. */
  readonly help?: string;
  readonly errors?: readonly FieldError[];
  /** Of a rejected body: what looks wrong in it besides. */
  readonly warnings?: readonly Warning[];
}

/** As its reader is told. */
export const renderAll = (problems: readonly Problem[], language: Language): FieldError[] =>
  problems.map((it) => render(it, language));

export const renderWarnings = (warnings: readonly WarningInBoth[], language: Language): Warning[] =>
  warnings.map((it) => render(it, language));

export function successEnvelope(data: unknown, requestId: string, now: number): Envelope {
  return { code: 0, message: 'success', data, requestId, timestamp: new Date(now).toISOString() };
}

/** The row of a reason on the reference page; for a rejected signature it tells how to learn the cause. */
export const helpFor = (reason: string): string => `${DOCS_PATH}#reason-${reason}`;

/** @param pathPrefix path below which clients reach the service, without a slash at its end; may be empty */
export const withHelpUnder = (pathPrefix: string, envelope: Envelope): Envelope =>
  pathPrefix === '' || envelope.help === undefined
    ? envelope
    : { ...envelope, help: pathPrefix + envelope.help };

/** @param language what its caller reads */
export function errorEnvelope(
  error: PushError,
  requestId: string,
  now: number,
  language: Language = 'zh',
): Envelope {
  return {
    code: error.code,
    message: error.text[language],
    data: null,
    requestId,
    timestamp: new Date(now).toISOString(),
    reason: error.reason,
    retryable: error.retryable,
    help: helpFor(error.reason),
    ...(error.errors && { errors: renderAll(error.errors, language) }),
    ...(error.warnings.length > 0 && {
      warnings: renderWarnings(error.warnings, language),
    }),
  };
}
