/** What is wrong with one field of a request, as its caller is told. */
import { z } from 'zod';
import type { Answer } from './answer-shape';
import { about } from './bilingual';

export const fieldError = z
  .object({
    field: z
      .string()
      .meta(about('Path of the field, or name of the header', '字段路径或请求头名称')),
    message: z.string().meta(about('For people', '供人阅读的说明')),
  })
  .meta(about('A problem, and where it is', '问题及其位置'));
export type FieldError = Answer<typeof fieldError>;
