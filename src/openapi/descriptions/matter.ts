/** What the fields of a matter mean (specification 2; decisions, "Operations"), pushed or shown. */
import type { Bilingual } from '../../protocol/bilingual';

const STATUS: Bilingual = [
  'Handling status, upper snake case. Any value is stored; one that the portal does not know counts as open and gives a warning. Empty says the same as absent.',
  '办理状态，大写下划线格式。任何值都会保存；门户不认识的值按未办结处理并返回警告。空字符串等同于未传。',
];
const STALE: Bilingual = [
  'When the caller last changed it. Older than the stored one: nothing is changed and the outcome is STALE_IGNORED. Epoch seconds or milliseconds, ISO-8601 with offset, or local date-time in the time zone of the portal; at most 24 hours ahead.',
  '来源系统的最后更新时间，用于乱序控制：早于已保存的值时整个请求不生效，结果为 STALE_IGNORED。支持秒或毫秒时间戳、带时区的 ISO-8601、门户时区的本地时间；最多比当前时间晚 24 小时。',
];
const SHOWN_TIME: Bilingual = ['ISO-8601 in UTC', 'ISO-8601 格式，UTC 时间'];

export const MATTER_DESCRIPTIONS: Readonly<Record<string, Bilingual>> = {
  matterType: ['To-do, notice, alert or reminder', '待办、通知、预警或提醒'],
  externalId: [
    'The business key of the caller: with its system code it names the matter. One line, not blank.',
    '来源系统的业务主键，与系统编码一起唯一确定一个事项。单行、不能为空。',
  ],
  'UpsertBody.externalId': [
    'The business key of the caller; needed for a TODO. Without it the service assigns one that starts with `auto:`, the same again for a retry. Own ids may not start with `auto:`.',
    '来源系统的业务主键，TODO 必填。不传时由服务分配以 auto: 开头的编号，重试得到同一编号；自有编号不能以 auto: 开头。',
  ],
  title: ['Title, not blank', '标题，不能为空'],
  summary: ['Summary', '摘要'],
  content: ['Body text', '正文'],
  pcUrl: [
    'Where a click on it leads on a desktop: http, https or the scheme of an app; no javascript, data, vbscript or file',
    '桌面端跳转地址：http、https 或应用协议；不允许 javascript、data、vbscript、file',
  ],
  mobileUrl: ['The same on a phone', '移动端跳转地址，规则同 pcUrl'],
  bizType: [
    'Business type: the second level of the tree of categories. Spaces around it are taken away.',
    '业务类型，门户分类树的第二级。首尾空白会被去掉。',
  ],
  priority: [
    'LOW, NORMAL, HIGH and URGENT are ranked in lists; any other value ranks as NORMAL',
    'LOW、NORMAL、HIGH、URGENT 参与列表排序；其他值按 NORMAL 排序',
  ],
  deadlineAt: [
    'Deadline: ISO-8601 date-time, local in the time zone of the portal; an offset is accepted',
    '截止时间：ISO-8601，门户时区的本地时间；也接受带时区偏移',
  ],
  'Matter.deadlineAt': [
    'Deadline: ISO-8601 date-time, local in the time zone of the portal',
    '截止时间：ISO-8601，门户时区的本地时间',
  ],
  initiatorExtId: ['Initiator, by an id of the caller', '发起人在来源系统中的编号'],
  initiatorUsername: [
    'Initiator, by login name in the portal. Recommended for a DRAFT: it shows among the drafts of this user.',
    '发起人的门户登录名。草稿（DRAFT）建议填写，草稿会出现在该用户的草稿箱。',
  ],
  externalStatusCode: ['Original status in the system of the caller', '来源系统的原始状态码'],
  externalStatusLabel: ['The same in words', '来源系统的原始状态名称'],
  payloadJson: ['More data: a JSON document as text', '扩展数据：字符串形式的 JSON 文档'],
  bizStatus: ['Handling status', '办理状态'],
  'StatusBody.bizStatus': STATUS,
  'UpsertBody.bizStatus': [
    `${STATUS[0]} A new matter without it is PENDING; null sets PENDING.`,
    `${STATUS[1]}新事项不传时为 PENDING；传 null 恢复为 PENDING。`,
  ],
  'ReopenBody.bizStatus': [`${STATUS[0]} Then it is REOPENED.`, `${STATUS[1]}此时为 REOPENED。`],
  sourceUpdatedAt: SHOWN_TIME,
  'UpsertBody.sourceUpdatedAt': STALE,
  'StatusBody.sourceUpdatedAt': STALE,
  'ReopenBody.sourceUpdatedAt': STALE,
  'DeleteBody.sourceUpdatedAt': STALE,
  replaceParties: [
    'True: the list of parties becomes exactly `parties`. Whoever stays keeps the read state.',
    '为 true 时参与人列表整体替换为 parties；保留下来的人保持已读状态。',
  ],
  parties: [
    'Parties, merged with those that are there by username and role unless `replaceParties` is true; newcomers start unread',
    '参与人：按登录名和角色与已有参与人合并，replaceParties 为 true 时整体替换；新参与人为未读',
  ],
  'Matter.parties': ['Its parties', '参与人'],
  username: ['Login name of an enabled user of the portal', '门户中已启用用户的登录名'],
  partyRole: ['ASSIGNEE handles it, CC and RECIPIENT see it', '处理人、抄送人或接收人'],
  resetAssigneeUnread: [
    'Whether it becomes unread again for those who handle it',
    '是否把处理人重新置为未读',
  ],
  systemCode: ['System code of the client that pushed it', '推送方绑定的系统编码'],
  matterId: [
    'Id in the portal: 64 bits as a string of decimal digits',
    '门户中的事项编号：64 位整数，以十进制字符串表示',
  ],
  phase: [
    'Where it stands, derived from `bizStatus` and `deleted`',
    '所处阶段，由 bizStatus 和 deleted 得出',
  ],
  deleted: ['Whether it is deleted', '是否已删除'],
  deletedAt: SHOWN_TIME,
  createdAt: SHOWN_TIME,
  updatedAt: [
    'When it changed last in the ledger: ISO-8601 in UTC',
    '台账中的最后变更时间：ISO-8601，UTC',
  ],
  revision: ['How many pushes have changed it', '已被多少次推送改变'],
  displayName: ['Name in the portal', '门户中的显示名'],
  unread: ['Whether the party has still to read it', '该参与人是否未读'],
};
