/** The texts of the list of pushes. @typedef {import('../../kit/speech.js').Words} Words */

/** @param {string} english @param {string} chinese @returns {Words} */
const w = (english, chinese) => [english, chinese];

export const PUSHES = {
  views: w('Views', '视图'),
  view: {
    all: w('All', '全部'),
    failed: w('Failed', '失败'),
    still: w('Unresolved', '未解决'),
    late: w('Timed out', '超时'),
    stale: w('Outdated', '过期数据'),
    replayed: w('Repeated', '重复请求'),
    refused: w('Rejected signature', '签名被拒'),
  },
  operation: w('Operation', '操作'),
  any: w('Any', '全部'),
  reason: w('Reason', '原因'),
  live: w('Live updates', '实时更新'),
  received: w('Received', '接收时间'),
  result: w('Result', '结果'),
  took: w('Duration', '耗时'),
  countShown: w('Pushes: {0}', '{0} 条推送'),
  countMore: w('Pushes loaded: {0}. Scroll to load others.', '已加载 {0} 条，滚动加载更多'),
  tooMany: w(
    'Pushes shown: {0}. Narrow the time range to see others.',
    '已显示 {0} 条，请缩小范围查看其余',
  ),
  noPushes: w('No pushes match.', '没有符合条件的推送。'),
  noPushesWhy: w(
    'The push log keeps entries for {0}. Rejected requests without an entry are only counted, or their sender is unknown.',
    '推送日志保存 {0}。部分被拒的请求没有日志：只计数，或无法识别发送方。',
  ),
  clearFilters: w('Clear filters', '清除筛选'),
  searched: w(
    'The whole push log is searched for the exact ID',
    '在全部推送日志中查找完全匹配的编号',
  ),
  clearSearch: w('Clear search', '清除搜索'),
  searchTitles: w('Search titles', '搜索标题'),
  searchNames: w('Search names of people', '搜索参与人姓名'),
  foundMatters: w('Matters whose ID starts with this text', '编号以此开头的事项'),
  allMatters: w('All of these matters', '全部此类事项'),
  searchMatters: w('Search matters whose ID starts with this text', '查找编号以此开头的事项'),
  acts: {
    mend: w('Fix the data', '修正数据'),
    again: w('Resend', '重发'),
    ask: w('Contact the operators', '联系运维人员'),
    anew: w('Push again from the source system', '由业务系统重新推送'),
  },
};
