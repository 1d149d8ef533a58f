/** Descriptions of the fields of a matter (contract 1 and 4), and the schema of a matter in answers. */

import { z } from 'zod';
import type { MatterType, PartyRole, Phase } from '../domain/matter';
import { type Answer, count, instant, matterId, oneOf } from './answer-shape';
import { type Bilingual, describe } from './language';

export const MATTER = {
  systemCode: describe('System code of the client that pushed the matter', '推送方绑定的系统编码'),
  matterId: describe(
    'Id in the portal: 64 bits as a string of decimal digits',
    '门户中的事项编号：64 位整数，以十进制字符串表示',
  ),
  matterType: describe('To-do, notice, alert or reminder', '待办、通知、预警或提醒'),
  externalId: describe(
    'The business key in the source system. System code and externalId identify a matter. One line, not blank.',
    '来源系统的业务主键，与系统编码一起唯一确定一个事项。单行、不能为空。',
  ),
  title: describe('Title, not blank', '标题，不能为空'),
  summary: describe('Summary', '摘要'),
  content: describe('Body text', '正文'),
  pcUrl: describe(
    'URL of the matter on a desktop. The scheme is http, https or an app scheme. javascript, data, vbscript and file are rejected',
    '桌面端跳转地址：http、https 或应用协议；不允许 javascript、data、vbscript、file',
  ),
  mobileUrl: describe(
    'URL of the matter on a phone; same rules as `pcUrl`',
    '移动端跳转地址，规则同 pcUrl',
  ),
  bizType: describe(
    'Business type: a category of the second level in the portal. The service removes blanks at both ends.',
    '业务类型，门户分类树的第二级。首尾空白会被去掉。',
  ),
  priority: describe(
    'LOW, NORMAL, HIGH and URGENT set the position in lists. Any other value counts as NORMAL',
    'LOW、NORMAL、HIGH、URGENT 参与列表排序；其他值按 NORMAL 排序',
  ),
  bizStatus: describe('Handling status', '办理状态'),
  phase: describe(
    'The phase, derived from `bizStatus` and `deleted`',
    '所处阶段，由 bizStatus 和 deleted 得出',
  ),
  deadlineAt: describe(
    'Deadline: ISO-8601, year 1970 to 9999. Without an offset, the time zone of the portal applies',
    '截止时间：ISO-8601，门户时区的本地时间，年份 1970 到 9999；也接受带时区偏移',
  ),
  initiatorExtId: describe('Id of the initiator in the source system', '发起人在来源系统中的编号'),
  initiatorUsername: describe(
    'Login name of the initiator in the portal. Recommended for a DRAFT: the portal shows the draft to this user.',
    '发起人的门户登录名。草稿（DRAFT）建议填写，草稿会出现在该用户的草稿箱。',
  ),
  externalStatusCode: describe('Original status code in the source system', '来源系统的原始状态码'),
  externalStatusLabel: describe('Name of the original status', '来源系统的原始状态名称'),
  payloadJson: describe(
    'Further data: a JSON document as text',
    '扩展数据：字符串形式的 JSON 文档',
  ),
  username: describe('Login name of an enabled user of the portal', '门户中已启用用户的登录名'),
  partyRole: describe(
    'An ASSIGNEE handles the matter; CC and RECIPIENT only see it',
    '处理人、抄送人或接收人',
  ),
  deleted: describe('Whether the matter is deleted', '是否已删除'),
  updatedAt: describe(
    'Time of the last change in the ledger: ISO-8601 in UTC',
    '台账中的最后变更时间：ISO-8601，UTC',
  ),
  shownTime: describe('ISO-8601 in UTC', 'ISO-8601 格式，UTC 时间'),
  pushedTime: describe(
    'Time of the last change in the source system. A push with an older time than the stored time changes nothing (STALE_IGNORED). Formats: epoch seconds or milliseconds, ISO-8601, or yyyyMMddHHmmss. Without an offset, the time zone of the portal applies. Maximum: 24 hours in the future. A time before the year 2000 causes a warning. Use the same precision in all pushes of a matter: 10:00:00 is older than 10:00:00.500.',
    '来源系统的最后更新时间，用于乱序控制：早于已保存的值时整个请求不生效，结果为 STALE_IGNORED。支持秒或毫秒时间戳、带时区的 ISO-8601、门户时区的本地时间（含 14 位数字 yyyyMMddHHmmss）；最多比当前时间晚 24 小时，早于 2000 年时返回警告。同一事项的各次推送请使用相同精度：同一秒内，整秒的时间早于带毫秒的时间。',
  ),
};

const STATUS: Bilingual = [
  'Handling status, upper snake case. A value that the portal does not know is stored, counts as open and causes a warning. An empty value means the same as an absent field.',
  '办理状态，大写下划线格式。任何值都会保存；门户不认识的值按未办结处理并返回警告。空字符串等同于未传。',
];

export const PUSHED_STATUS = {
  upsert: describe(
    `${STATUS[0]} A new matter without a status is PENDING. null sets PENDING.`,
    `${STATUS[1]}新事项不传时为 PENDING；传 null 恢复为 PENDING。`,
  ),
  status: describe(...STATUS),
  reopen: describe(
    `${STATUS[0]} If the field is absent, the status becomes REOPENED.`,
    `${STATUS[1]}此时为 REOPENED。`,
  ),
};

const text = () => z.string().nullable();

const ENUMS = {
  matterType: oneOf<MatterType>({ TODO: true, NOTICE: true, ALERT: true, REMIND: true }),
  phase: oneOf<Phase>({ DRAFT: true, OPEN: true, CONCLUDED: true, DELETED: true }),
};

export const partyView = z
  .object({
    username: z.string().meta(MATTER.username),
    partyRole: oneOf<PartyRole>({ ASSIGNEE: true, CC: true, RECIPIENT: true }).meta(
      MATTER.partyRole,
    ),
    displayName: z.string().meta(describe('Name in the portal', '门户中的显示名')),
    unread: z
      .boolean()
      .meta(describe('Whether the party has not read the matter yet', '该参与人是否未读')),
  })
  .meta(describe('A party of a matter', '事项的参与人'));
export type PartyView = Answer<typeof partyView>;

export const matterView = z
  .object({
    systemCode: z.string().meta(MATTER.systemCode),
    externalId: z.string().meta(MATTER.externalId),
    matterId: matterId().meta(MATTER.matterId),
    matterType: ENUMS.matterType.meta(MATTER.matterType),
    title: z.string().meta(MATTER.title),
    summary: text().meta(MATTER.summary),
    content: text().meta(MATTER.content),
    pcUrl: text().meta(MATTER.pcUrl),
    mobileUrl: text().meta(MATTER.mobileUrl),
    bizType: text().meta(MATTER.bizType),
    priority: text().meta(MATTER.priority),
    bizStatus: z.string().meta(MATTER.bizStatus),
    phase: ENUMS.phase.meta(MATTER.phase),
    deadlineAt: text().meta(
      describe(
        'Deadline: ISO-8601 date-time, local in the time zone of the portal',
        '截止时间：ISO-8601，门户时区的本地时间',
      ),
    ),
    initiatorExtId: text().meta(MATTER.initiatorExtId),
    initiatorUsername: text().meta(MATTER.initiatorUsername),
    externalStatusCode: text().meta(MATTER.externalStatusCode),
    externalStatusLabel: text().meta(MATTER.externalStatusLabel),
    sourceUpdatedAt: instant().nullable().meta(MATTER.shownTime),
    payloadJson: text().meta(MATTER.payloadJson),
    parties: z.array(partyView).meta(describe('The parties of the matter', '参与人')),
    deleted: z.boolean().meta(MATTER.deleted),
    deletedAt: instant().nullable().meta(MATTER.shownTime),
    createdAt: instant().meta(MATTER.shownTime),
    updatedAt: instant().meta(MATTER.updatedAt),
    revision: count().meta(describe('Number of changes of the matter', '变更次数')),
  })
  .meta(
    describe('A matter of the ledger; absent values are null', '台账中的事项；缺失的字段为 null'),
  );
export type MatterView = Answer<typeof matterView>;

/** Query keys without access to bodies do not get these fields. */
const TEXTS_OF_MATTER = { title: true, summary: true, content: true, payloadJson: true } as const;

export const matterAnswer = matterView
  .partial(TEXTS_OF_MATTER)
  .meta(
    describe(
      'A matter of the ledger; absent values are null. Query keys without access to bodies get no title, summary, content or payloadJson',
      '台账中的事项；缺失的字段为 null。无正文权限的查询密钥得到的结果不含 title、summary、content、payloadJson',
    ),
  );
export type MatterAnswer = Answer<typeof matterAnswer>;

export function withoutTexts(matter: MatterView): MatterAnswer {
  const { title, summary, content, payloadJson, ...others } = matter;
  return others;
}

/** Every line of the answer to `matters/orphans` except the last line. */
export const orphanView = matterView
  .pick({
    externalId: true,
    matterId: true,
    matterType: true,
    title: true,
    bizType: true,
    bizStatus: true,
  })
  .extend(matterView.pick({ phase: true, sourceUpdatedAt: true, updatedAt: true }).shape)
  .partial({ title: true })
  .meta(
    describe(
      'An open matter or a draft that is not in the list. A query key without access to bodies gets no title',
      '台账中未办结或草稿、但不在列表里的事项；无正文权限的查询密钥得到的结果不含 title',
    ),
  );
export type OrphanView = Answer<typeof orphanView>;

/** `data` in the last line of a complete answer to `matters/orphans`. */
export const orphanCount = z
  .object({
    listed: count().meta(describe('Number of different ids in the list', '列表中不同的业务主键数')),
    open: count().meta(
      describe('Number of open matters and drafts in the ledger', '台账中未办结或草稿的事项数'),
    ),
    orphans: count().meta(
      describe('Number of open matters and drafts not in the list', '其中不在列表里的数量'),
    ),
  })
  .meta(describe('Numbers of ids and matters', '数量统计'));
export type OrphanCount = Answer<typeof orphanCount>;
