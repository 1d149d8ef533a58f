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
  othersFail: w(
    '{0} other pushes of this matter have failed too. If you resend this push alone, they count as resolved and are not sent. Resend all of them in their order here:',
    '该事项另有 {0} 条推送失败。仅重发本条时，它们视为已解决，不再发送。按顺序全部重发请到：',
  ),
  failures: w('Failures', '失败'),
  resendAnyway: w('Resend anyway', '仍然重发'),
};
