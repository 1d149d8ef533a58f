/** What the overview says. @typedef {import('../../kit/speech.js').Words} Words */

/** @param {string} english @param {string} chinese @returns {Words} */
const w = (english, chinese) => [english, chinese];

export const OVERVIEW = {
  heading: w('Overview', '概览'),
  tiles: {
    received: w('Received', '已接收'),
    written: w('Saved', '已落库'),
    stillFailed: w('Unresolved failures', '未解决的失败'),
    waiting: w('In progress', '处理中'),
  },
  about: {
    received: w('All pushes', '全部推送'),
    written: w('Confirmed with code 0', '返回 code 0'),
    stillFailed: w('Matters without a successful push since', '之后没有成功推送的事项'),
    waiting: w('Pushes of the last {0} minutes without a result', '最近 {0} 分钟内尚无结果的推送'),
  },
  viewPushes: w('View pushes', '查看推送'),
  fix: w('Fix {0}', '处理 {0} 项'),
  fixFailures: w('Fix failures', '处理失败'),
  dayBefore: w('The day before: {0}', '前一日同期：{0}'),
  daysBefore: w('The {0} days before: {1}', '前 {0} 天同期：{1}'),
  atLeast: w('at least {0}', '不少于 {0}'),
  notCounted: w('Too many to count', '数据过多，未能统计'),
  perHour: w('Pushes per hour', '每小时推送数'),
  perDay: w('Pushes per day', '每天推送数'),
  kinds: {
    written: w('Saved', '已落库'),
    unchanged: w('Repeated or outdated', '重复或过期'),
    failed: w('Failed', '失败'),
  },
  asTable: w('Show as a table', '以表格显示'),
  time: w('Time', '时间'),
  cut: w(
    'The range has too many pushes to count. The figures start at {0}.',
    '数据过多，仅统计 {0} 之后的部分。',
  ),
  noPushes: w('No pushes in this time range.', '该时间范围内没有推送。'),
  reasons: w('Why pushes failed', '失败原因'),
  noReasons: w('No push failed.', '没有失败的推送。'),
  resolvedToo: w('Failed pushes, including resolved ones.', '失败的推送，含已解决的。'),
  ledger: w('Matters by business type', '事项统计（按业务类型）'),
  ledgerAbout: w(
    'All matters that are not deleted, in any time range. Counting takes a moment.',
    '全部未删除的事项，与时间范围无关。统计需要片刻。',
  ),
  countLedger: w('Count', '统计'),
  type: w('Business type', '业务类型'),
  noType: w('(no type)', '（无类型）'),
  open: w('Open', '未办结'),
  concluded: w('Concluded', '已办结'),
  together: w('Total', '合计'),
};
