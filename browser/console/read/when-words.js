/** The texts of relative times. @typedef {import('../kit/speech.js').Words} Words */

/** @param {string} english @param {string} chinese @returns {Words} */
const w = (english, chinese) => [english, chinese];

export const WHEN = {
  justNow: w('just now', '刚刚'),
  minutesAgo: w('{0} min ago', '{0} 分钟前'),
  dayNames: {
    '-1': w('yesterday {0}', '昨天 {0}'),
    0: w('today {0}', '今天 {0}'),
    1: w('tomorrow {0}', '明天 {0}'),
  },
};
