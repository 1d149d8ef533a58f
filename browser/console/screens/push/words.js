/** Texts of one push. @typedef {import('../../kit/speech.js').Words} Words */

/** @param {string} english @param {string} chinese @returns {Words} */
const w = (english, chinese) => [english, chinese];

export const PUSH = {
  problem: w('Problem', '问题'),
  technical: w('Technical data', '技术信息'),
  fix: w('Fix and resend', '修正并重发'),
  notSigned: w(
    'The console cannot resend this push: its signature or its client was rejected. Only a push that the client signed may be sent in its name.',
    '不能重发：该推送因签名或 Client 被拒；只有 Client 签名的推送才能以其名义发送。',
  ),
  foreign: w(
    'The console cannot resend this push: its idempotency key belongs to another client, and it names no matter. That client has to push it again.',
    '不能在此重发：其幂等键属于其他 client，且没有 externalId。请由该 client 重新推送。',
  ),
  advanced: w('Advanced: edit the body as JSON', '高级：以 JSON 编辑请求体'),
  editJson: w('Edit in JSON', '在 JSON 中编辑'),
  asText: w('Convert to text', '转为文本'),
  bodyGone: w(
    'The console cannot fix this push: its body is no longer stored. Push it again from the source system.',
    '不能在此修正：请求体已不再保存。请由业务系统重新推送。',
  ),
  body: w('Body', '请求体'),
  check: w('Check', '校验'),
  resend: w('Resend', '重发'),
  wouldPass: w('The push is valid. Resend it now.', '校验通过，可以重发。'),
  resent: w('Resent. The ledger has the new data.', '已重发并落库。'),
  refresh: w('Refresh', '刷新'),
  next: w('Next failure', '下一条失败'),
  resolved: w(
    'This failure is already resolved: a later push of the matter took effect. If you resend this push, it overwrites newer data.',
    '该失败已解决：该事项之后的推送已生效。现在重发会覆盖较新的数据。',
  ),
  queued: w(
    'This push, or a later push of its matter, was sent again and has no result yet. Wait a moment, then check again.',
    '此推送或同一事项之后的推送已重发，尚无结果。请稍候，再次检查。',
  ),
  othersFail: w(
    '{0} other pushes of this matter have failed too. If you resend this push alone, they count as resolved and are not sent. To resend all of them in their order, open',
    '该事项另有 {0} 条推送失败。仅重发本条时，它们视为已解决，不再发送。如需按顺序全部重发，请打开',
  ),
  failures: w('Failures', '失败'),
  resendAnyway: w('Resend anyway', '仍然重发'),
  noPush: w(
    'This push does not exist, belongs to another system, is older than the log, or was not recorded.',
    '没有该推送：可能属于其他系统、已超出日志保存期或未被记录。',
  ),
  noPushId: w(
    'This address does not contain a request ID of 24 hex digits. Use the search to find the push.',
    '该地址没有指定推送：requestId 为 24 位十六进制字符，请在上方搜索。',
  ),
  timeline: w('Timeline', '时间线'),
  stages: {
    admitted: w('Checked', '校验'),
    waited: w('Waited', '排队'),
    written: w('Written', '落库'),
  },
  answer: w('Answer to the caller', '返回给调用方的结果'),
  problems: w('Invalid fields', '问题字段'),
  warnings: w('Warnings', '警告'),
  changes: w('Changes', '改变的内容'),
  others: w('Other pushes of the same matter or key', '同一事项或幂等键的其他推送'),
  diagnosis: w('Why the signature was rejected', '签名被拒的原因'),
  diagnosisLater: w(
    'No diagnosis: only the client that sent the push can see it.',
    '没有诊断：仅发送方 client 可查看。',
  ),
  sent: w('Sent', '发送的内容'),
  signed: w('Signed', '签名的内容'),
  raw: w('Original', '原文'),
  pretty: w('Formatted', '格式化'),
  noBody: w('The body is no longer stored.', '请求体已不再保存。'),
  copy: w('Copy', '复制'),
  copyCurl: w('Copy as a shell command', '复制为 curl 命令'),
  copyCurlAbout: w(
    'The command signs with $SECRET when it runs.',
    '执行时以环境变量 SECRET 签名。',
  ),
  fields: {
    requestId: w('Request id', 'requestId'),
    secretId: w('Signed with', '签名密钥编号'),
    idempotencyKey: w('Idempotency key', '幂等键'),
    attempt: w('Attempt', '第几次请求'),
    bodySize: w('Bytes', '字节数'),
    bodyHash: w('SHA-256 of the body', '请求体 SHA-256'),
    revision: w('Revision after the push', '之后的修订号'),
    matterId: w('Matter id', '门户事项编号'),
    traceId: w('Trace', '链路编号'),
    duplicateOf: w('Repeats the result of', '返回其结果的请求'),
    resentFrom: w('Resend of', '重发自'),
    mark: w('Mark', '标记'),
    stale: w('Older than the stored data', '早于已保存的数据'),
  },
};
