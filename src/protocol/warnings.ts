/** What the service accepts although it looks wrong (decisions, "Operations"). */
import { z } from 'zod';
import type { Answer } from './answer-shape';
import { about } from './bilingual';
import type { Told } from './language';

/** Stable, for programs; new ones may be added. */
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
      .meta(about('Path of the field, or name of the header', '字段路径或请求头名称')),
    message: z.string().meta(about('For people', '供人阅读的说明')),
    kind: z
      .enum(WARNING_KINDS)
      .meta(
        about(
          "Stable: program against it. UNKNOWN_FIELD, FIELD_NOT_APPLICABLE and SYSTEM_CODE_IGNORED: the field was ignored, and is 400 with X-Strict-Fields. UNKNOWN_STATUS: counts as open. FUTURE_TIME: more than 5 minutes ahead. LONG_PAST_TIME: before the year 2000. URL_WITHOUT_SCHEME: it begins with a host and a port. UNKNOWN_INITIATOR: not an enabled user. NO_ASSIGNEE: after the push the TODO is in nobody's list. LOOK_ALIKE_ID: the id has a blank at an end or a character without width.",
          '稳定的警告类别，供程序判断。UNKNOWN_FIELD、FIELD_NOT_APPLICABLE、SYSTEM_CODE_IGNORED：字段已忽略，使用 X-Strict-Fields 时返回 400；UNKNOWN_STATUS：按未办结处理；FUTURE_TIME：晚于当前时间 5 分钟以上；LONG_PAST_TIME：早于 2000 年；URL_WITHOUT_SCHEME：以主机名和端口开头；UNKNOWN_INITIATOR：不是已启用的用户；NO_ASSIGNEE：推送后该待办没有处理人，不会出现在任何人的列表中；LOOK_ALIKE_ID：业务主键首尾有空白或含零宽字符。',
        ),
      ),
    suggestion: z
      .string()
      .optional()
      .meta(about('The field that was probably meant', '可能想要填写的字段')),
  })
  .meta(about('Something that looks wrong, and where it is', '看起来有问题的内容及其位置'));
export type Warning = Answer<typeof warning>;

/** The same before it is told, and in the log: in both languages. */
export interface WarningInBoth extends Warning, Told {}

/** Of a push after which its TODO is in nobody's list. */
export const NO_ASSIGNEE: WarningInBoth = {
  field: 'parties',
  message: '没有 ASSIGNEE，该待办不会出现在任何人的待办列表中',
  english: "there is no ASSIGNEE, so the TODO is in nobody's list",
  kind: 'NO_ASSIGNEE',
};

/** @param unseen whether NO_ASSIGNEE belongs to them; it stands there once */
export function withUnseen(
  warnings: readonly WarningInBoth[],
  unseen: boolean,
): readonly WarningInBoth[] {
  const isTold = warnings.some(({ kind }) => kind === NO_ASSIGNEE.kind);
  return unseen && !isTold ? [...warnings, NO_ASSIGNEE] : warnings;
}
