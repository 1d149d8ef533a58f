/** Maps the columns of a file to fields. Uses no Node API, because the page /console imports this file. */

/** Common column names of each field in `plain` form, best first. */
export type ColumnNames = Readonly<Record<string, readonly string[]>>;

/** The field of a column with usernames of assignees. */
export const ASSIGNEE = 'assignee';

export const MATTER_COLUMNS: ColumnNames = {
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
  // 发起人 and 处理人 are missing on purpose: columns with these names usually contain display names, not usernames.
  initiatorUsername: ['发起人登录名', '发起人账号', '申请人登录名', '申请人账号', 'initiator'],
  initiatorExtId: ['发起人编号', '申请人编号'],
  payloadJson: ['附加数据', '扩展数据', 'payload'],
  [ASSIGNEE]: [
    ...['处理人登录名', '处理人账号', '办理人登录名', '办理人账号', '待办人登录名', '待办人账号'],
    'assignees',
  ],
  parties: ['参与人'],
  replaceParties: ['替换参与人'],
  removeParties: ['移除参与人'],
};

export const USER_COLUMNS: ColumnNames = {
  username: ['登录名', '用户名', '账号', '登录账号', '用户账号', 'login', 'account', 'userid'],
  displayName: ['姓名', '显示名', '显示名称', '名称', '用户姓名', 'name', 'fullname'],
};

/** The field of each column; undefined if the column is not used. */
export type Mapping = readonly (string | undefined)[];

/** Gives "External ID", "external_id" and "externalId" the same form. */
const plain = (name: string) =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_\-*:：()（）]/g, '');

/** 0 means the best fit, and infinity means no fit. */
function rankOf(field: string, name: string, names: ColumnNames): number {
  if (plain(field) === name) return 0;
  const at = names[field]?.indexOf(name) ?? -1;
  return at < 0 ? Number.POSITIVE_INFINITY : at + 1;
}

/** If several columns fit a field, the field gets the column that fits best. */
export function guessMapping(
  head: readonly string[],
  names: ColumnNames = MATTER_COLUMNS,
): Mapping {
  const mapping: (string | undefined)[] = head.map(() => undefined);
  for (const field of Object.keys(names)) {
    const ranks = head.map((name) => rankOf(field, plain(name), names));
    const best = Math.min(...ranks);
    if (best < Number.POSITIVE_INFINITY) mapping[ranks.indexOf(best)] ??= field;
  }
  return mapping;
}

export const isHeaderRow = (cells: readonly string[]): boolean =>
  guessMapping(cells).some((field) => field !== undefined);

export type Mapped =
  | { readonly mapping: Mapping; readonly problem?: undefined }
  | { readonly problem: string; readonly mapping?: undefined };

export const IGNORED = 'ignore';

/** The field (or IGNORED) that the user states for a column. */
export type ColumnMapping = readonly [field: string, name: string];

/** The columns in `mappings` override the guessed mapping. */
export function mapColumns(
  head: readonly string[],
  names: ColumnNames,
  mappings: readonly ColumnMapping[] = [],
): Mapped {
  const mapping = [...guessMapping(head, names)];
  for (const [field, name] of mappings) {
    const at = head.findIndex((it) => plain(it) === plain(name));
    if (at === -1) return { problem: `there is no column ${name}; ${columnsText(head)}` };
    const before = mapping.indexOf(field);
    if (before !== -1) mapping[before] = undefined;
    mapping[at] = field === IGNORED ? undefined : field;
  }
  const twice = head.find(
    (name, at) =>
      mapping[at] !== undefined && head.some((it, n) => n > at && plain(it) === plain(name)),
  );
  return twice === undefined
    ? { mapping }
    : { problem: `the header has the column ${twice} twice` };
}

/** @returns a message for the user; undefined if no column is missing */
export function missingColumns(
  head: readonly string[],
  mapping: Mapping,
  needed: readonly string[],
): string | undefined {
  const missing = needed.filter((field) => !mapping.includes(field));
  if (missing.length === 0) return undefined;
  return `the header has no column ${missing.join(' and ')}; ${columnsText(head)}`;
}

const columnsText = (head: readonly string[]) =>
  `the columns are: ${head.filter((name) => name !== '').join(', ') || 'none'}`;
