/** Which column of a file holds which field: guessed by its name, in both languages. Pure but for what a tab remembers. */

/** Names that people give them, normalised; the field's own name always counts. @type {Readonly<Record<string, readonly string[]>>} */
const NAMES = {
  externalId: [
    ...['id', '业务主键', '业务编号', '外部编号', '单号', '单据号', '单据编号', '流水号', '编号'],
    ...['主键', 'businessid', 'ticketid', 'ticket', 'number', 'no'],
  ],
  bizType: ['业务类型', '类型', '分类', 'type', 'category'],
  bizStatus: ['办理状态', '业务状态', '状态', 'status', 'state'],
  externalStatusCode: ['原始状态码', '原始状态', '状态码', '状态代码', 'statuscode'],
  externalStatusLabel: ['状态名称', '状态名', 'statuslabel', 'statusname'],
  sourceUpdatedAt: [
    ...['最后更新时间', '更新时间', '最后修改时间', '修改时间', 'updatedat', 'updated'],
    ...['lastupdated', 'modifiedat', 'modified', 'lastmodified', 'updatetime'],
  ],
  deleted: ['已删除', '是否删除', '删除标志', '删除', 'isdeleted'],
  matterType: ['事项类型'],
  title: ['标题', '主题', '事项名称', '名称', 'subject', 'name'],
  summary: ['摘要'],
  content: ['内容', '正文', 'description'],
  pcUrl: ['pc链接', '链接', '地址', 'url', 'link'],
  mobileUrl: ['移动链接', '移动端链接', '手机链接'],
  priority: ['优先级', '紧急程度', '级别'],
  deadlineAt: ['截止时间', '截止日期', '期限', 'deadline', 'due', 'duedate', 'dueat'],
  initiatorUsername: ['发起人', '申请人', '发起人登录名', 'initiator'],
  initiatorExtId: ['发起人编号', '申请人编号'],
  payloadJson: ['附加数据', '扩展数据', 'payload'],
  parties: ['参与人'],
  replaceParties: ['替换参与人'],
};

export const FIELDS = Object.keys(NAMES);

/** @typedef {readonly (string | undefined)[]} Mapping the field of each column */

/** "External ID", "external_id" and "externalId" are one name. @param {string} name */
const plain = (name) =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_\-*:：()（）]/g, '');

/** By how well a name fits: the field's own, then the others in their order. @param {string} field @param {string} name */
function rankOf(field, name) {
  if (plain(field) === name) return 0;
  const at = NAMES[field]?.indexOf(name) ?? -1;
  return at < 0 ? Number.POSITIVE_INFINITY : at + 1;
}

/** No field stands in two columns: the name that fits best has it. @param {readonly string[]} head @returns {Mapping} */
export function guess(head) {
  const mapping = /** @type {(string | undefined)[]} */ (head.map(() => undefined));
  for (const field of FIELDS) {
    const ranks = head.map((name) => rankOf(field, plain(name)));
    const best = Math.min(...ranks);
    if (best < Number.POSITIVE_INFINITY) mapping[ranks.indexOf(best)] ??= field;
  }
  return mapping;
}

/** Whether the first line of a file names columns: one of its cells is the name of a field. @param {readonly string[]} cells */
export const isHead = (cells) => guess(cells).some((field) => field !== undefined);

const STORED = 'matter-push.reconcile-columns';

/** Of files with the same head it is known how they were mapped before, in this tab. @param {readonly string[]} head @param {Mapping} mapping */
export function remember(head, mapping) {
  const all = { ...stored(), [headKey(head)]: mapping.map((field) => field ?? '') };
  try {
    sessionStorage.setItem(STORED, JSON.stringify(all));
  } catch {
    // A browser may forbid its store, or have no room in it: nothing is remembered.
  }
}

/** @param {readonly string[]} head @returns {Mapping} as it was remembered, else guessed */
export function mappingFor(head) {
  const known = stored()[headKey(head)];
  if (!Array.isArray(known) || known.length !== head.length) return guess(head);
  return known.map((field) => (FIELDS.includes(field) ? field : undefined));
}

/** Not the names themselves as a key: `__proto__` is one too. @param {readonly string[]} head */
const headKey = (head) => JSON.stringify(head);

/** @returns {Record<string, unknown>} */
function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(STORED) ?? '{}');
  } catch {
    // Somebody else's text: nothing is remembered.
    return {};
  }
}
