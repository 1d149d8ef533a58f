/** What the overview says. @typedef {import('./speech.js').Words} Words */

/** @param {string} english @param {string} chinese @returns {Words} */
const w = (english, chinese) => [english, chinese];

export const OVERVIEW = {
  heading: w('Overview', '概览'),
  tiles: {
    received: w('Received', '已接收'),
    written: w('Written', '已落库'),
    stillFailed: w('Still failed', '尚未补救'),
    waiting: w('Waiting', '处理中'),
  },
  about: {
    received: w('Pushes that came in', '收到的推送'),
    written: w('Answered with code 0', '返回 code 0'),
    stillFailed: w('Matters whose pushes nothing later mended', '之后没有成功推送的事项'),
    waiting: w(
      'Received in the last {0} minutes, whatever the range, and not settled yet',
      '最近 {0} 分钟内收到、尚未得到结果（与时间范围无关）',
    ),
  },
  dayBefore: w('The day before: {0}', '前一日同期：{0}'),
  daysBefore: w('{0} days before: {1}', '前 {0} 天同期：{1}'),
  atLeast: w('{0} or more', '不少于 {0}'),
  notCounted: w('Too many to look through', '数据过多，未能统计'),
  perHour: w('Pushes per hour, by outcome', '每小时推送数（按结果）'),
  perDay: w('Pushes per day, by outcome', '每天推送数（按结果）'),
  kinds: {
    written: w('Written', '已落库'),
    unchanged: w('Repeated or stale', '重复或过期'),
    failed: w('Failed', '失败'),
  },
  most: w('Most at a time: {0}', '单个时段最多：{0}'),
  asTable: w('As a table', '以表格显示'),
  time: w('Time', '时间'),
  cut: w(
    'There is too much to count: what is shown begins at {0}.',
    '数据过多，仅统计 {0} 之后的部分。',
  ),
  noPushes: w('Nothing was pushed in this range.', '该时间范围内没有推送。'),
  reasons: w('Why pushes failed', '失败原因'),
  noReasons: w('No push failed.', '没有失败的推送。'),
  reason: w('Reason', '原因'),
  pushes: w('Pushes', '推送数'),
  mendedToo: w('Mended ones are counted here too.', '此处含已补救的推送。'),
  ledger: w('The ledger by type and state', '台账：按类型和状态'),
  ledgerAbout: w(
    'All matters that are not deleted, whatever the range. Counting takes a moment.',
    '全部未删除的事项，与时间范围无关。统计需要片刻。',
  ),
  countLedger: w('Count', '统计'),
  type: w('Type', '类型'),
  noType: w('(without a type)', '（无类型）'),
  open: w('Open', '未办结'),
  concluded: w('Concluded', '已办结'),
  together: w('Together', '合计'),
};
