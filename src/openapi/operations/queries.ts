/** The signed queries that take a JSON object (docs/reconcile.md). */

import type { Bilingual } from '../../protocol/bilingual';
import { LINES_LIMIT } from '../../protocol/limits';
import { QUERIES, type QueryName, queryPath } from '../../protocol/paths';
import type { AnswerName } from '../answer-schemas';
import { QUERY_ANSWERS, QUESTIONS } from '../examples/queries';
import { SIGNED } from '../headers';
import { type Json, schemaRef } from '../json-schema';
import type { BodyName } from '../request-schemas';
import { admitted, success } from '../responses';
import { BODY_LIMIT, bodyOf, signedOperation } from './signed';

interface Query {
  readonly id: string;
  readonly body: BodyName;
  readonly answer: AnswerName;
  readonly title: Bilingual;
  readonly about: Bilingual;
  /** Bytes; absent: BODY_LIMIT. */
  readonly limit?: number;
}

const QUERY_OPERATIONS: Readonly<Record<QueryName, Query>> = {
  'push-logs/query': {
    id: 'queryPushLog',
    body: 'LogQueryBody',
    answer: 'LogAnswer',
    title: ['Search the push log', '查询推送日志'],
    about: [
      'The newest first. A page looks at no more than 5,000 entries: only `nextCursor: null` means the end. Counts end at 10,000.',
      '按时间倒序。每页最多扫描 5,000 条，只有 nextCursor 为 null 才表示结束。总数最多计到 10,000。',
    ],
  },
  'push-logs/failures': {
    id: 'queryFailures',
    body: 'FailuresBody',
    answer: 'FailuresAnswer',
    title: ['List failed pushes', '查询失败的推送及其是否已恢复'],
    about: [
      'Grouped by reason and field, and a row per matter. A page looks at the newest 5,000 failures and 500 matters at most; `complete: false` says that there are older ones. On a further page a matter may come again.',
      '按原因和字段分组，并按事项逐行列出。每页最多查看最近的 5,000 次失败、500 个事项；complete 为 false 表示还有更早的失败，后续页中同一事项可能再次出现。',
    ],
  },
  'push-logs/stats': {
    id: 'queryStats',
    body: 'StatsBody',
    answer: 'StatsAnswer',
    title: ['Push statistics', '推送统计'],
    about: [
      'Counted as pushes are answered, those that were shed too, at the minute of their receipt. Counts come in every few seconds; a process that is killed loses those of its last ones. Longest windows: a day by minute, 31 days by hour, 366 days by day.',
      '在响应时计数，记在收到的那一分钟，含被限流或丢弃的推送。每几秒写入一次，进程被强制终止时会丢失最后几秒。最长时间窗：按分钟一天，按小时 31 天，按天 366 天。',
    ],
  },
  'matters/get': {
    id: 'getMatters',
    body: 'GetBody',
    answer: 'GetAnswer',
    title: ['Get matters by externalId', '按业务主键查询事项'],
    about: [
      'In the order asked, each once; deleted ones too.',
      '按请求顺序返回，每个一次；含已删除的事项。',
    ],
    limit: LINES_LIMIT,
  },
  'matters/query': {
    id: 'queryMatters',
    body: 'MattersQueryBody',
    answer: 'ChangesAnswer',
    title: ['List changed matters', '查询变更的事项'],
    about: [
      'In the order in which they changed here. The next incremental query begins at `watermark`, half a minute back: some matters are met twice and none is missed. As a search it takes filters besides, and the reverse order. A page may be short and not be the last.',
      '按变更顺序返回。下一次增量查询从 watermark 开始，它回退约半分钟：可能重复，不会遗漏。也可按条件搜索，或倒序返回。一页可能不满但不是最后一页。',
    ],
  },
  'matters/diff': {
    id: 'diffMatters',
    body: 'DiffBody',
    answer: 'DiffAnswer',
    title: ['Compare matters line by line', '逐行比对事项'],
    about: [
      'MISSING: never here. DELETED: deleted here only. NOT_DELETED: deleted there only. STALE_HERE: the ledger is older. NEWER_HERE: it is newer. STATUS_DIFFERS: bizStatus or externalStatusCode differ.',
      'MISSING 台账没有；DELETED 仅台账已删除；NOT_DELETED 仅来源已删除；STALE_HERE 台账较旧；NEWER_HERE 台账较新；STATUS_DIFFERS 状态不同。',
    ],
    limit: LINES_LIMIT,
  },
  'matters/digest': {
    id: 'digestMatters',
    body: 'DigestBody',
    answer: 'DigestAnswer',
    title: ['Count and digest of matters', '事项数量与摘要'],
    about: [
      'Counts and hashes by bizType and day, without deleted matters. One at a time per system; it may take a minute.',
      '按业务类型和日期统计数量与哈希，不含已删除的事项。每个系统同时只能执行一个，可能需要一分钟。',
    ],
  },
  'users/check': {
    id: 'checkUsers',
    body: 'UsersCheckBody',
    answer: 'UsersAnswer',
    title: ['Check usernames', '校验登录名'],
    about: [
      'Whether each of at most 1,000 names is known to the portal and enabled, as a push would find it now.',
      '校验最多 1,000 个登录名是否存在且已启用，与推送时的判断一致。',
    ],
    limit: LINES_LIMIT,
  },
  'clients/me': {
    id: 'describeClient',
    body: 'ClientSelfBody',
    answer: 'SelfAnswer',
    title: ['Settings of the calling client', '查询自身的配置'],
    about: [
      'Rate, pause and its reason, secrets by their ids, retentions, limits, and the time of the service.',
      '速率限制、暂停及其原因、密钥编号、保存时长、限制以及服务时间。',
    ],
  },
};

const FOUND: Bilingual = ['What was asked for', '查询结果'];

export function queryPaths(): Record<string, Json> {
  return Object.fromEntries(QUERIES.map((name) => [queryPath(name), queryOf(name)]));
}

function queryOf(name: QueryName): Json {
  const { body, answer, limit, ...operation } = QUERY_OPERATIONS[name];
  const examples = { example: { value: QUESTIONS[name] } };
  const content = { 'application/json': { schema: schemaRef(body), examples } };
  return signedOperation({
    ...operation,
    tag: 'query',
    parameters: SIGNED,
    requestBody: limit ? bodyOf(content, limit) : bodyOf(content, BODY_LIMIT, 'BODY_LIMIT'),
    success: admitted(FOUND, success(answer, { example: QUERY_ANSWERS[name] })),
    rejections: ['INVALID_JSON', 'TOO_MANY_QUERIES'],
  });
}
