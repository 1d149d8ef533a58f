/** The schemas of `data` in the answer to `push-logs/query`. */
import { z } from 'zod';
import { type Answer, count, nextCursor, notRecorded } from './answer-shape';
import { describe } from './language';
import { entryView, fieldChange } from './log-entry';

/** @param causes all codes of docs/signature-causes.md */
export function diagnosisSchemas(causes: readonly string[]) {
  const finding = z
    .object({
      cause: z
        .enum(causes)
        .meta(describe('A stable code; later versions may add codes', '稳定的原因代码，可能新增')),
      explanation: z.string().meta(describe('What went wrong', '错误说明')),
      fix: z.string().meta(describe('How to correct it', '处理办法')),
      difference: bodyDifference
        .optional()
        .meta(
          describe(
            'Present if the body was signed in a different form with the same content, and the caller may see the body',
            '请求体的书写形式在签名后发生变化、且调用方可查看请求体时返回',
          ),
        ),
    })
    .meta(describe('A mistake of the caller, and how to correct it', '发现的一个错误及处理办法'));
  const diagnosis = z
    .object({
      findings: z
        .array(finding)
        .meta(
          describe(
            'At least one; several if the caller made several mistakes',
            '至少一条；多个错误同时存在时有多条',
          ),
        ),
      tried: count().meta(
        describe(
          'Number of digests that the diagnosis computed and compared with the sent signature',
          '尝试比对的摘要数量',
        ),
      ),
      complete: z
        .boolean()
        .meta(
          describe(
            'False: a limit ended the search early',
            '为 false 时因时间或次数上限未全部尝试',
          ),
        ),
    })
    .meta(
      describe(
        'Why the signature or the timestamp was rejected. The diagnosis never shows the correct signature',
        '签名被拒的原因诊断；不会给出正确的签名',
      ),
    );
  return { Diagnosis: diagnosis, Finding: finding, BodyDifference: bodyDifference };
}

const bodyDifference = z
  .object({
    offset: count().meta(
      describe('Position of the first different byte, from 0', '首个不同字节的位置，从 0 起'),
    ),
    sent: z
      .string()
      .meta(
        describe(
          'The sent text near `offset`, escaped as in JSON',
          '该处实际发送的内容，按 JSON 转义',
        ),
      ),
    signed: z
      .string()
      .meta(
        describe(
          'The signed text near `offset`, escaped as in JSON',
          '该处被签名的内容，按 JSON 转义',
        ),
      ),
  })
  .meta(
    describe(
      'The first difference between the body that was sent and the body that was signed',
      '实际发送的请求体与被签名内容的首个差异',
    ),
  );

export type Diagnosis = Answer<ReturnType<typeof diagnosisSchemas>['Diagnosis']>;
export type Finding = Answer<ReturnType<typeof diagnosisSchemas>['Finding']>;
export type Difference = Answer<typeof bodyDifference>;

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
          describe(
            'The sent body; null if the body is not stored. If the body is not UTF-8, the value is `base64:` plus the base64 form of the body',
            '原始请求体；不是 UTF-8 时为 base64: 加字节；未保存时为 null',
          ),
        ),
      diagnosis: diagnoses.Diagnosis.optional().meta(
        describe(
          'Why the signature or timestamp was rejected. Present only if a client queries its own request by `requestId`',
          '仅当该请求所属的 Client 按 requestId 查询、且请求因 SIGNATURE_MISMATCH 或 TIMESTAMP_OUT_OF_WINDOW 被拒时返回',
        ),
      ),
    })
    .meta(describe('One request in the push log', '推送日志中的一次请求'));
  const page = z
    .object({
      entries: z
        .array(entry)
        .meta(
          describe(
            'Newest first by default. A short page is not always the last page',
            '按时间倒序，oldestFirst 为 true 时按正序；一页可能不满但不是最后一页',
          ),
        ),
      nextCursor: nextCursor(),
      /** Present only on the first page, and only if no filter names a request, batch, matter or idempotency key. */
      notRecorded: notRecorded().optional(),
      count: z
        .object({
          value: count().meta(
            describe(
              'The number of entries, or a lower limit of it if `exact` is false',
              '计数值；exact 为 false 时为下限',
            ),
          ),
          exact: z
            .boolean()
            .meta(
              describe(
                'False: the search stopped at a limit; the total number can be greater than `value`',
                '为 false 时查询达到上限后停止，实际可能更多',
              ),
            ),
        })
        .optional()
        .meta(
          describe('The total number; present if the query sets `count`', '总数，仅在请求时返回'),
        ),
    })
    .meta(describe('A page of the push log', '推送日志的一页'));
  return { LogEntry: entry, FieldChange: fieldChange, ...diagnoses, LogPage: page };
}

type Schemas = ReturnType<typeof logPageSchemas>;
export type PageEntry = Answer<Schemas['LogEntry']>;
export type LogPage = Answer<Schemas['LogPage']>;
