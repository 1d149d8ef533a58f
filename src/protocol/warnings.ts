/** Field errors, and warnings about accepted values that look wrong (contract 4.9). */
import { z } from 'zod';
import type { Answer } from './answer-shape';
import { describe, type LocalizedText } from './language';

export const fieldError = z
  .object({
    field: z
      .string()
      .meta(describe('Path of the field, or name of the header', '字段路径或请求头名称')),
    message: z.string().meta(describe('Text for people', '供人阅读的说明')),
  })
  .meta(describe('A problem and its field', '问题及其位置'));
export type FieldError = Answer<typeof fieldError>;

/** Stable codes for client programs; later versions may add codes. */
const WARNING_KINDS = [
  'UNKNOWN_FIELD',
  'FIELD_NOT_APPLICABLE',
  'SYSTEM_CODE_IGNORED',
  'UNKNOWN_STATUS',
  'FUTURE_TIME',
  'LONG_PAST_TIME',
  'URL_WITHOUT_SCHEME',
  'UNKNOWN_INITIATOR',
  'NO_ASSIGNEE',
  'LOOK_ALIKE_ID',
] as const;
export type WarningKind = (typeof WARNING_KINDS)[number];

export const warning = z
  .object({
    field: z
      .string()
      .meta(describe('Path of the field, or name of the header', '字段路径或请求头名称')),
    message: z.string().meta(describe('Text for people', '供人阅读的说明')),
    kind: z
      .enum(WARNING_KINDS)
      .meta(
        describe(
          'The stable kind of the warning, for programs. UNKNOWN_FIELD, FIELD_NOT_APPLICABLE and SYSTEM_CODE_IGNORED: the field was ignored. With X-Strict-Fields, the push is rejected. UNKNOWN_STATUS: the status counts as open. FUTURE_TIME: the time is more than 5 minutes in the future. LONG_PAST_TIME: the time is before the year 2000. URL_WITHOUT_SCHEME: the URL begins with a host and a port. UNKNOWN_INITIATOR: the initiator is unknown or disabled. NO_ASSIGNEE: the TODO has no ASSIGNEE after the push. LOOK_ALIKE_ID: the id begins or ends with a blank, or has a zero-width character.',
          '稳定的警告类别，供程序判断。UNKNOWN_FIELD、FIELD_NOT_APPLICABLE、SYSTEM_CODE_IGNORED：字段已忽略，使用 X-Strict-Fields 时返回 400；UNKNOWN_STATUS：按未办结处理；FUTURE_TIME：晚于当前时间 5 分钟以上；LONG_PAST_TIME：早于 2000 年；URL_WITHOUT_SCHEME：以主机名和端口开头；UNKNOWN_INITIATOR：不是已启用的用户；NO_ASSIGNEE：推送后该待办没有处理人，不会出现在任何人的待办列表中；LOOK_ALIKE_ID：业务主键首尾有空白或含零宽字符。',
        ),
      ),
    suggestion: z
      .string()
      .optional()
      .meta(describe('The field that was probably meant', '可能想要填写的字段')),
  })
  .meta(describe('A value that looks wrong, and its field', '看起来有问题的内容及其位置'));
export type Warning = Answer<typeof warning>;

/** A warning in Chinese and English, as the push log stores it. */
export interface LocalizedWarning extends Warning, LocalizedText {}

export const NO_ASSIGNEE: LocalizedWarning = {
  field: 'parties',
  message: '没有 ASSIGNEE，该待办不会出现在任何人的待办列表中',
  english: 'the TODO has no ASSIGNEE, so no user sees the TODO in a to-do list',
  kind: 'NO_ASSIGNEE',
};
