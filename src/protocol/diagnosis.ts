/** What was wrong with a rejected signature, as its client and operators are told. */
import { z } from 'zod';
import { type Answer, count } from './answer-shape';
import { about } from './bilingual';

/** @param causes all codes of docs/signature-causes.md */
export function diagnosisSchemas(causes: readonly string[]) {
  const finding = z
    .object({
      cause: z
        .enum(causes)
        .meta(about('Stable; new ones may be added', '稳定的原因代码，可能新增')),
      explanation: z.string().meta(about('What went wrong', '错误说明')),
      fix: z.string().meta(about('What to do about it', '处理办法')),
      difference: bodyDifference
        .optional()
        .meta(
          about(
            'Where the body was sent in another writing than it was signed in',
            '请求体的书写形式在签名后发生变化时返回',
          ),
        ),
    })
    .meta(about('A mistake that was made, and what to do about it', '发现的一个错误及处理办法'));
  const diagnosis = z
    .object({
      findings: z
        .array(finding)
        .meta(
          about(
            'At least one; several where several mistakes came together',
            '至少一条；多个错误同时存在时有多条',
          ),
        ),
      tried: count().meta(about('Digests that were made and compared', '尝试比对的摘要数量')),
      complete: z
        .boolean()
        .meta(
          about(
            'False: it was cut off before everything was tried',
            '为 false 时因时间或次数上限未全部尝试',
          ),
        ),
    })
    .meta(
      about(
        'What was wrong with a rejected signature; never the signature that was expected',
        '签名被拒的原因诊断；不会给出正确的签名',
      ),
    );
  return { Diagnosis: diagnosis, Finding: finding, BodyDifference: bodyDifference };
}

/** Where two bodies part. Both texts are short. */
const bodyDifference = z
  .object({
    offset: count().meta(
      about('The first byte that differs, from 0', '首个不同字节的位置，从 0 起'),
    ),
    sent: z
      .string()
      .meta(about('What was sent there, escaped as in JSON', '该处实际发送的内容，按 JSON 转义')),
    signed: z
      .string()
      .meta(about('What was signed there, escaped as in JSON', '该处被签名的内容，按 JSON 转义')),
  })
  .meta(
    about(
      'Where the body that was sent parts from the one that was signed',
      '实际发送的请求体与被签名内容的首个差异',
    ),
  );

type Schemas = ReturnType<typeof diagnosisSchemas>;
export type Diagnosis = Answer<Schemas['Diagnosis']>;
export type Finding = Answer<Schemas['Finding']>;
export type Difference = Answer<typeof bodyDifference>;
