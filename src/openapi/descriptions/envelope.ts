/** What the fields of every answer mean (decisions, "Envelope and HTTP status"). */
import type { Bilingual } from '../../protocol/bilingual';

export const ENVELOPE_DESCRIPTIONS: Readonly<Record<string, Bilingual>> = {
  code: [
    '0: success; what was pushed is in the database. Otherwise also the HTTP status, unless the service runs with HTTP_STATUS_MODE=always-200.',
    '0 表示成功，推送的内容已落库；其他值同时也是 HTTP 状态码，除非服务以 HTTP_STATUS_MODE=always-200 运行。',
  ],
  message: ['For people', '供人阅读的说明'],
  data: ['What was asked for; null in an error', '返回的数据；出错时为 null'],
  requestId: [
    'Finds the request in the push log; quote it in questions',
    '凭它可在推送日志中查到本次请求',
  ],
  timestamp: ['When it was answered: ISO-8601 in UTC', '响应时间：ISO-8601，UTC'],
  reason: ['Stable: program against it', '稳定的错误原因，供程序判断'],
  retryable: [
    'Whether the same request may succeed later: sign it again, with the same key and body',
    '同一请求稍后是否可能成功；重试时用同一幂等键和请求体重新签名',
  ],
  help: [
    "Where the reason is explained, below the service's address; of a rejected signature also how to learn the cause by its requestId",
    '该原因的说明所在，相对于服务地址；签名失败时也说明如何凭 requestId 查出原因',
  ],
  errors: ['Every problem of the request at once', '请求中的全部问题'],
  field: ['Path of the field, or name of the header', '字段路径或请求头名称'],
  outcome: [
    'What became of it. CREATED, UPDATED, DELETED: done. REVIVED: an upsert brought a deleted matter back. STALE_IGNORED: older than what is stored, nothing was changed. ALREADY_DELETED: it was deleted before.',
    '处理结果。CREATED、UPDATED、DELETED 已生效；REVIVED 已删除的事项被 upsert 恢复；STALE_IGNORED 早于已保存的版本，未改变；ALREADY_DELETED 此前已删除。',
  ],
  warnings: [
    'What was accepted and looks wrong; of unknown fields the first 20',
    '已接受但看起来有问题的内容；未知字段最多列出前 20 个',
  ],
  'ErrorAnswer.warnings': [
    'What looks wrong in a rejected body besides its errors: a misspelt field is why another one is missing',
    '被拒绝的请求体中其他看起来有问题的内容，例如字段名拼写错误',
  ],
  'LogEntry.warnings': [
    'What looks wrong in the body, whatever became of the push',
    '请求体中看起来有问题的内容，与推送结果无关',
  ],
  kind: [
    "Stable: program against it. UNKNOWN_FIELD, FIELD_NOT_APPLICABLE and SYSTEM_CODE_IGNORED: the field was ignored, and is 400 with X-Strict-Fields. UNKNOWN_STATUS: counts as open. FUTURE_TIME: more than 5 minutes ahead. UNKNOWN_INITIATOR: not an enabled user. NO_ASSIGNEE: after the push the TODO is in nobody's list.",
    '稳定的警告类别，供程序判断。UNKNOWN_FIELD、FIELD_NOT_APPLICABLE、SYSTEM_CODE_IGNORED：字段已忽略，使用 X-Strict-Fields 时返回 400；UNKNOWN_STATUS：按未办结处理；FUTURE_TIME：晚于当前时间 5 分钟以上；UNKNOWN_INITIATOR：不是已启用的用户；NO_ASSIGNEE：推送后该待办没有处理人，不会出现在任何人的列表中。',
  ],
  suggestion: ['The field that was probably meant', '可能想要填写的字段'],
  'VerifyBody.operation': ['What would be done', '要校验的操作'],
  'VerifyBody.push': [
    'The body that would be sent to that operation; errors name its fields as they would there',
    '将发送给该操作的请求体；错误中的字段名与实际推送一致',
  ],
  valid: ['It would be accepted', '校验通过'],
  'Verified.externalId': [
    'The matter that it is about; null: the service would assign an id',
    '所属事项的业务主键；null 表示将由服务分配',
  ],
  status: ['How the process is', '进程状态'],
};
