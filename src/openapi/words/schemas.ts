/** What each schema of the document is. */
import type { AnswerName } from '../answer-schemas';
import type { BodyName } from '../request-schemas';
import type { Words } from './both';

export const SCHEMA_WORDS: Readonly<Record<BodyName | AnswerName, Words>> = {
  UpsertBody: [
    'A field that is absent stays as it is, null clears it',
    '未传的字段保持不变，null 清空',
  ],
  StatusBody: ['A change of status', '状态变更'],
  ReopenBody: ['A reopening', '重新打开'],
  DeleteBody: ['A soft delete', '软删除'],
  Party: ['A party of a matter, as it is pushed', '推送的参与人'],
  VerifyBody: ['An operation, and the body that its push would have', '操作，以及该次推送的请求体'],
  LogQueryBody: [
    'Filters of the push log; `from` must lie before `to`',
    '推送日志的查询条件；from 必须早于 to',
  ],
  GetBody: ['Ids of matters', '事项的业务主键'],
  MattersQueryBody: [
    'A window of changes; `updatedFrom` must lie before `updatedTo`',
    '变更时间窗；updatedFrom 必须早于 updatedTo',
  ],
  DiffBody: ['What the caller believes of its matters', '来源系统的事项记录'],
  DigestBody: ['Which matters to count; days in their order', '统计范围；toDay 不能早于 fromDay'],
  OrphansLine: ['One line of the list of ids', '业务主键列表的一行'],
  PushAnswer: ['The answer to a push that was written', '推送成功的响应'],
  VerifyAnswer: ['The answer to a push that would be accepted', '校验通过的响应'],
  LogAnswer: ['A page of the push log', '推送日志的一页'],
  GetAnswer: ['The matters that were asked for', '所查询的事项'],
  ChangesAnswer: ['A page of changed matters', '变更事项的一页'],
  DiffAnswer: ['What differs', '差异'],
  DigestAnswer: ['Counts and hashes', '数量与哈希'],
  OrphansEnd: ['The last line of a complete list of orphans', '完整结果的最后一行'],
  AliveAnswer: ['The process answers', '进程存活'],
  ReadyAnswer: ['The process may get requests', '进程就绪'],
  ErrorAnswer: ['Every refusal and failure', '所有拒绝与失败的响应'],
  Reason: [
    'Stable reasons; new ones may be added. The table at the head of the document explains them.',
    '稳定的错误原因，可能新增；说明见文档开头的表格。',
  ],
  FieldError: ['A problem, and where it is', '问题及其位置'],
  Warning: ['Something that looks wrong, and where it is', '看起来有问题的内容及其位置'],
  PushData: ['What became of a push', '推送结果'],
  Verified: ['What was found of a push that passes', '校验结果'],
  LogEntry: ['One request, as the push log has it', '推送日志中的一次请求'],
  FieldChange: [
    'A field that a push changed; titles and texts are only named',
    '推送改变的字段；标题和正文只列字段名',
  ],
  Diagnosis: [
    'What was wrong with a refused signature; never the signature that was expected',
    '签名被拒的原因诊断；不会给出正确的签名',
  ],
  Finding: ['A mistake that was made, and what to do about it', '发现的一个错误及处理办法'],
  BodyDifference: [
    'Where the body that was sent parts from the one that was signed',
    '实际发送的请求体与被签名内容的首个差异',
  ],
  LogPage: ['A page of the push log', '推送日志的一页'],
  Matter: ['A matter of the ledger; what is absent is null', '台账中的事项；缺失的字段为 null'],
  MatterParty: ['A party of a matter', '事项的参与人'],
  Orphan: ['A matter that is open here and not in the list', '台账中未办结、但不在列表里的事项'],
  OrphanCount: ['How many there were', '数量统计'],
  GotMatters: ['Matters, and what is not there', '事项与缺失的业务主键'],
  ChangesPage: ['Matters in the order in which they changed', '按变更顺序排列的事项'],
  HeldMatter: ['What the ledger has of a matter that differs', '有差异的事项在台账中的记录'],
  MatterDifference: ['A line that differs', '有差异的一行'],
  MatterDiff: ['Lines that differ, in the order sent', '有差异的行，按发送顺序'],
  DigestBucket: ['Of one bizType and day', '一个业务类型和日期的统计'],
  MatterDigest: ['Counts and hashes by bizType and day', '按业务类型和日期的数量与哈希'],
};
