/** What the fields of a matter mean (specification 2; decisions, "Operations"), whether pushed or shown. */
import { about, type Bilingual } from './bilingual';

export const MATTER = {
  systemCode: about('System code of the client that pushed it', '推送方绑定的系统编码'),
  matterId: about(
    'Id in the portal: 64 bits as a string of decimal digits',
    '门户中的事项编号：64 位整数，以十进制字符串表示',
  ),
  matterType: about('To-do, notice, alert or reminder', '待办、通知、预警或提醒'),
  externalId: about(
    'The business key of the caller: with its system code it names the matter. One line, not blank.',
    '来源系统的业务主键，与系统编码一起唯一确定一个事项。单行、不能为空。',
  ),
  title: about('Title, not blank', '标题，不能为空'),
  summary: about('Summary', '摘要'),
  content: about('Body text', '正文'),
  pcUrl: about(
    'Where a click on it leads on a desktop: http, https or the scheme of an app; no javascript, data, vbscript or file',
    '桌面端跳转地址：http、https 或应用协议；不允许 javascript、data、vbscript、file',
  ),
  mobileUrl: about('The same on a phone', '移动端跳转地址，规则同 pcUrl'),
  bizType: about(
    'Business type: the second level of the tree of categories. Spaces around it are taken away.',
    '业务类型，门户分类树的第二级。首尾空白会被去掉。',
  ),
  priority: about(
    'LOW, NORMAL, HIGH and URGENT are ranked in lists; any other value ranks as NORMAL',
    'LOW、NORMAL、HIGH、URGENT 参与列表排序；其他值按 NORMAL 排序',
  ),
  bizStatus: about('Handling status', '办理状态'),
  phase: about(
    'Where it stands, derived from `bizStatus` and `deleted`',
    '所处阶段，由 bizStatus 和 deleted 得出',
  ),
  deadlineAt: about(
    'Deadline: ISO-8601 date-time, local in the time zone of the portal, of a year from 1970 to 9999; an offset is accepted',
    '截止时间：ISO-8601，门户时区的本地时间，年份 1970 到 9999；也接受带时区偏移',
  ),
  initiatorExtId: about('Initiator, by an id of the caller', '发起人在来源系统中的编号'),
  initiatorUsername: about(
    'Initiator, by login name in the portal. Recommended for a DRAFT: it shows among the drafts of this user.',
    '发起人的门户登录名。草稿（DRAFT）建议填写，草稿会出现在该用户的草稿箱。',
  ),
  externalStatusCode: about('Original status in the system of the caller', '来源系统的原始状态码'),
  externalStatusLabel: about('The same in words', '来源系统的原始状态名称'),
  payloadJson: about('More data: a JSON document as text', '扩展数据：字符串形式的 JSON 文档'),
  username: about('Login name of an enabled user of the portal', '门户中已启用用户的登录名'),
  partyRole: about('ASSIGNEE handles it, CC and RECIPIENT see it', '处理人、抄送人或接收人'),
  deleted: about('Whether it is deleted', '是否已删除'),
  updatedAt: about(
    'When it changed last in the ledger: ISO-8601 in UTC',
    '台账中的最后变更时间：ISO-8601，UTC',
  ),
  /** Of every instant that is shown. */
  shownTime: about('ISO-8601 in UTC', 'ISO-8601 格式，UTC 时间'),
  /** Of a push: when its caller last changed the matter. */
  pushedTime: about(
    'When the caller last changed it. Older than the stored one: nothing is changed and the outcome is STALE_IGNORED. Epoch seconds or milliseconds, ISO-8601 with offset, or local date-time in the time zone of the portal (14 digits yyyyMMddHHmmss too); at most 24 hours ahead. Before the year 2000: a warning. Send the same precision with every push of a matter: a time in whole seconds is older than one with milliseconds in the same second.',
    '来源系统的最后更新时间，用于乱序控制：早于已保存的值时整个请求不生效，结果为 STALE_IGNORED。支持秒或毫秒时间戳、带时区的 ISO-8601、门户时区的本地时间（含 14 位数字 yyyyMMddHHmmss）；最多比当前时间晚 24 小时，早于 2000 年时返回警告。同一事项的各次推送请使用相同精度：同一秒内，整秒的时间早于带毫秒的时间。',
  ),
};

const STATUS: Bilingual = [
  'Handling status, upper snake case. Any value is stored; one that the portal does not know counts as open and gives a warning. Empty says the same as absent.',
  '办理状态，大写下划线格式。任何值都会保存；门户不认识的值按未办结处理并返回警告。空字符串等同于未传。',
];

/** What a status means in the body of each operation. */
export const PUSHED_STATUS = {
  upsert: about(
    `${STATUS[0]} A new matter without it is PENDING; null sets PENDING.`,
    `${STATUS[1]}新事项不传时为 PENDING；传 null 恢复为 PENDING。`,
  ),
  status: about(...STATUS),
  reopen: about(`${STATUS[0]} Then it is REOPENED.`, `${STATUS[1]}此时为 REOPENED。`),
};
