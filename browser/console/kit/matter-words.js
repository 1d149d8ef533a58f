/** The fields of a matter, and their values. @typedef {import('./speech.js').Words} Words */

/** @param {string} english @param {string} chinese @returns {Words} */
const w = (english, chinese) => [english, chinese];

export const FIELDS = {
  title: w('Title', '标题'),
  summary: w('Summary', '摘要'),
  content: w('Content', '正文'),
  pcUrl: w('Desktop link', '桌面端链接'),
  mobileUrl: w('Mobile link', '移动端链接'),
  matterType: w('Kind', '事项类型'),
  bizType: w('Business type', '业务类型'),
  priority: w('Priority', '优先级'),
  bizStatus: w('Status', '办理状态'),
  externalStatusCode: w('Status code of the source', '来源系统状态码'),
  externalStatusLabel: w('Status name of the source', '来源系统状态名称'),
  deadlineAt: w('Deadline', '截止时间'),
  sourceUpdatedAt: w('Changed in the source', '来源系统更新时间'),
  initiatorUsername: w('Initiator', '发起人'),
  initiatorExtId: w('Initiator in the source', '来源系统发起人编号'),
  payloadJson: w('Extra data (payloadJson)', '扩展数据（payloadJson）'),
  parties: w('People', '参与人'),
  deleted: w('Deleted', '已删除'),
};

export const KINDS = {
  TODO: w('To-do', '待办'),
  NOTICE: w('Notice', '通知'),
  ALERT: w('Alert', '预警'),
  REMIND: w('Reminder', '提醒'),
};

export const PHASES = {
  DRAFT: w('Draft', '草稿'),
  OPEN: w('Open', '未办结'),
  CONCLUDED: w('Concluded', '已办结'),
  DELETED: w('Deleted', '已删除'),
};

export const STATUSES = {
  DRAFT: w('Draft', '草稿'),
  PENDING: w('Pending', '待处理'),
  PROCESSING: w('In progress', '处理中'),
  REOPENED: w('Reopened', '重新打开'),
  DONE: w('Done', '已完成'),
  COMPLETED: w('Completed', '已完成'),
  FINISHED: w('Finished', '已结束'),
  APPROVED: w('Approved', '已通过'),
  REJECTED: w('Rejected', '已驳回'),
  CANCELLED: w('Cancelled', '已取消'),
  CANCELED: w('Cancelled', '已取消'),
  WITHDRAWN: w('Withdrawn', '已撤回'),
  REVOKED: w('Revoked', '已撤销'),
  TERMINATED: w('Terminated', '已终止'),
  CLOSED: w('Closed', '已关闭'),
  EXPIRED: w('Expired', '已过期'),
};

export const PRIORITIES = {
  LOW: w('Low', '低'),
  NORMAL: w('Normal', '普通'),
  HIGH: w('High', '高'),
  URGENT: w('Urgent', '紧急'),
};

export const ROLES = {
  ASSIGNEE: w('Handler', '处理人'),
  CC: w('Copied', '抄送人'),
  RECIPIENT: w('Recipient', '接收人'),
};

export const OPERATION_WORDS = {
  upsert: w('Save', '写入'),
  status: w('Change status', '更新状态'),
  reopen: w('Reopen', '重新打开'),
  delete: w('Delete', '删除'),
};

export const CHANGE_WORDS = {
  none: w('The push changed nothing.', '没有改变事项。'),
  added: w('added: {0}', '新增：{0}'),
  removed: w('removed: {0}', '移除：{0}'),
  unread: w('unread again: {0}', '重新未读：{0}'),
  yes: w('yes', '是'),
  no: w('no', '否'),
};
