/** `data` of push-logs/query: entries, with what is added to them where it is asked for. */
import { z } from 'zod';
import { type Answer, count, nextCursor, notRecorded } from './answer-shape';
import { about } from './bilingual';
import { diagnosisSchemas } from './diagnosis';
import { entryView, fieldChange } from './log-entry';

/** @param causes all codes of docs/signature-causes.md */
export function logPageSchemas(causes: readonly string[]) {
  const diagnoses = diagnosisSchemas(causes);
  const entry = entryView
    .extend({
      body: z
        .string()
        .nullable()
        .optional()
        .meta(
          about(
            'As it was sent; `base64:` and its bytes where that is no UTF-8; null where it is not kept any more',
            '原始请求体；不是 UTF-8 时为 base64: 加字节；已不保存时为 null',
          ),
        ),
      diagnosis: diagnoses.Diagnosis.optional().meta(
        about(
          'Of a request that was rejected with SIGNATURE_MISMATCH or TIMESTAMP_OUT_OF_WINDOW, where `requestId` asks for it alone and its own client asks',
          '仅当该请求所属的 Client 按 requestId 查询、且请求因 SIGNATURE_MISMATCH 或 TIMESTAMP_OUT_OF_WINDOW 被拒时返回',
        ),
      ),
    })
    .meta(about('One request, as the push log has it', '推送日志中的一次请求'));
  const page = z
    .object({
      entries: z
        .array(entry)
        .meta(
          about(
            'The newest first, or the oldest with `oldestFirst`; a page may be short and not be the last',
            '按时间倒序，oldestFirst 为 true 时按正序；一页可能不满但不是最后一页',
          ),
        ),
      nextCursor: nextCursor(),
      /** Only on a first page that asks for no single matter, key or request. */
      notRecorded: notRecorded().optional(),
      count: z
        .object({
          value: count().meta(about('Counted', '计数值')),
          exact: z.boolean().meta(about('False: there are more', '为 false 时实际更多')),
        })
        .optional()
        .meta(about('How many there are, where asked for', '总数，仅在请求时返回')),
    })
    .meta(about('A page of the push log', '推送日志的一页'));
  return { LogEntry: entry, FieldChange: fieldChange, ...diagnoses, LogPage: page };
}

type Schemas = ReturnType<typeof logPageSchemas>;
export type PageEntry = Answer<Schemas['LogEntry']>;
export type LogPage = Answer<Schemas['LogPage']>;
