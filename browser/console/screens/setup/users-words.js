/** The texts of the check of usernames. @typedef {import('../../kit/speech.js').Words} Words */

/** @param {string} english @param {string} chinese @returns {Words} */
const w = (english, chinese) => [english, chinese];

export const USERS = {
  users: w('Check usernames', '校验登录名'),
  usersAbout: w(
    'The service rejects a push that names an unknown or disabled user. Enter up to {0} usernames, separated by spaces, commas or line breaks.',
    '推送中包含未知或停用的用户会被拒绝。最多 {0} 个登录名，以空格、逗号或换行分隔。',
  ),
  usernames: w('Usernames', '登录名'),
  checkUsers: w('Check', '查询'),
  tooManyUsers: w('Only the first {0} were checked.', '仅查询了前 {0} 个。'),
  allKnown: w('All {0} usernames are known and enabled.', '{0} 个登录名均存在且已启用。'),
  someUnknown: w(
    '{0} of {1} usernames cannot be used in a push.',
    '{1} 个登录名中有 {0} 个不能在推送中使用。',
  ),
  userState: {
    UNKNOWN: w('unknown', '不存在'),
    DISABLED: w('disabled', '已停用'),
    INVALID: w(
      'not a username: too long, or with invalid characters',
      '不是登录名：过长或含非法字符',
    ),
  },
  copyThem: w('Copy these usernames', '复制这些登录名'),
  moreUsers: w('… and {0} more', '… 以及另外 {0} 个'),
};
