/** Rows of the endpoint table (`protocol/endpoints.ts`) for the queries about matters. */

import { successEnvelope } from '../envelope';
import {
  CHANGES,
  DIFF,
  DIFF_BODY,
  DIGEST_ANSWER,
  GOT,
  ORPHAN,
  ORPHAN_COUNT,
} from '../examples/matters';
import { EXAMPLE_EXTERNAL_ID, EXAMPLE_REQUEST_ID, EXAMPLE_TIME } from '../examples/request';
import { ID_LIST_LIMIT, LARGE_QUERY_LIMIT, MAX_ID_LINES } from '../id-lines';
import type { Bilingual } from '../language';
import {
  type ChangesPage,
  changesPage,
  differingMatter,
  digestBucket,
  type GotMatters,
  gotMatters,
  heldView,
  type MatterDiff,
  type MatterDigest,
  matterDiff,
  matterDigest,
} from '../matter-answers';
import { matterQuerySchemas } from '../matter-queries';
import { matterAnswer, orphanCount, orphanView, partyView } from '../matter-view';
import { ORPHANS, queryPath } from '../paths';
import { type Endpoint, signedQuery } from './endpoint';

export const MATTER_QUERIES = {
  'matters/get': signedQuery<GotMatters>({
    id: 'getMatters',
    title: ['Get matters by externalId', '按业务主键查询事项'],
    description: [
      'Returns each requested matter once, in the order of the request. Includes deleted matters.',
      '按请求顺序返回，每个一次；含已删除的事项。',
    ],
    body: {
      name: 'GetBody',
      schema: (timeZone) => matterQuerySchemas(timeZone).get,
      example: { externalIds: [EXAMPLE_EXTERNAL_ID, 'PR-2026-002'] },
    },
    answer: {
      name: 'GetAnswer',
      description: ['The requested matters', '所查询的事项'],
      data: 'GotMatters',
      example: GOT,
    },
    schemas: () => ({
      Matter: matterAnswer,
      MatterParty: partyView,
      Orphan: orphanView,
      OrphanCount: orphanCount,
      GotMatters: gotMatters,
    }),
    bodyLimit: LARGE_QUERY_LIMIT,
  }),
  'matters/query': signedQuery<ChangesPage>({
    id: 'queryMatters',
    title: ['List changed matters', '查询变更的事项'],
    description: [
      'Returns matters in the order of their last change in the ledger. Start the next incremental query at `watermark`. `watermark` is half a minute in the past, so a query can repeat matters but misses none. Filters and reverse order are available. A page with fewer matters than `limit` is not always the last page.',
      '按变更顺序返回。下一次增量查询从 watermark 开始，它回退约半分钟：可能重复，不会遗漏。也可按条件搜索，或倒序返回。一页可能不满但不是最后一页。',
    ],
    body: {
      name: 'MattersQueryBody',
      schema: (timeZone) => matterQuerySchemas(timeZone).query,
      example: { updatedFrom: '2026-11-21T13:00:00Z', limit: 100 },
    },
    answer: {
      name: 'ChangesAnswer',
      description: ['A page of changed matters', '变更事项的一页'],
      data: 'ChangesPage',
      example: CHANGES,
    },
    schemas: () => ({ ChangesPage: changesPage }),
    rejections: ['SCOPE_NOT_ALLOWED'],
  }),
  'matters/diff': signedQuery<MatterDiff>({
    id: 'diffMatters',
    title: ['Compare matters line by line', '逐行比对事项'],
    description: [
      'MISSING: not in the ledger. DELETED: deleted only in the ledger. NOT_DELETED: deleted only in the source system. STALE_HERE: older in the ledger. NEWER_HERE: newer in the ledger. STATUS_DIFFERS: bizStatus or externalStatusCode differs.',
      'MISSING 台账没有；DELETED 仅台账已删除；NOT_DELETED 仅来源已删除；STALE_HERE 台账较旧；NEWER_HERE 台账较新；STATUS_DIFFERS 状态不同。',
    ],
    body: {
      name: 'DiffBody',
      schema: (timeZone) => matterQuerySchemas(timeZone).diff,
      example: DIFF_BODY,
    },
    answer: {
      name: 'DiffAnswer',
      description: ['The differences', '差异'],
      data: 'MatterDiff',
      example: DIFF,
    },
    schemas: () => ({
      ComparedMatter: heldView,
      MatterDifference: differingMatter,
      MatterDiff: matterDiff,
    }),
    bodyLimit: LARGE_QUERY_LIMIT,
  }),
  'matters/digest': signedQuery<MatterDigest>({
    id: 'digestMatters',
    title: ['Count and digest of matters', '事项数量与摘要'],
    description: [
      'Returns a count and a hash for each bizType and day, without deleted matters. Each system can run one digest at a time. A digest can take a minute.',
      '按业务类型和日期统计数量与哈希，不含已删除的事项。每个系统同时只能执行一个，可能需要一分钟。',
    ],
    body: {
      name: 'DigestBody',
      schema: (timeZone) => matterQuerySchemas(timeZone).digest,
      example: { fromDay: '2026-11-01', toDay: '2026-11-30', open: true },
    },
    answer: {
      name: 'DigestAnswer',
      description: ['Counts and hashes', '数量与哈希'],
      data: 'MatterDigest',
      example: DIGEST_ANSWER,
    },
    schemas: () => ({ DigestBucket: digestBucket, MatterDigest: matterDigest }),
    // A digest can take longer than PUSH_TIMEOUT.
    timeout: 60_000,
  }),
} as const;

const MAX_LINES = MAX_ID_LINES.toLocaleString('en');
const LIST: Bilingual = [
  `NDJSON: one id per line, as a JSON string or an object with \`externalId\`; limits: ${MAX_LINES} lines, 16,384 characters per line, 2 minutes upload time`,
  `NDJSON：每行一个业务主键，为 JSON 字符串或含 externalId 的对象；最多 ${MAX_LINES} 行，每行最多 16,384 个字符，两分钟内发完`,
];
const FOUND: Bilingual = [
  'NDJSON: one line for each orphan, in the order of the ids. The last line is an envelope. If the query failed, the last line is an error envelope. An answer without an envelope is incomplete.',
  'NDJSON：每个未列出的事项一行，按业务主键排序，最后一行是响应信封。没有最后一行表示不完整；中途失败时最后一行是错误信封。',
];

/** Body and answer are NDJSON, because both can be large. */
export const ORPHANS_ENDPOINT: Endpoint<typeof ORPHANS> = {
  name: ORPHANS,
  path: queryPath(ORPHANS),
  document: {
    id: 'findOrphans',
    tag: 'query',
    title: ['Find orphans: open matters that are not in the list', '查找来源系统没有的未办结事项'],
    description: [
      'Receives the ids of all open matters of the source system. Returns the open matters and drafts of the ledger that are not in the list. The query closes no matter. Each client can run one orphan query at a time.',
      '提交来源系统全部未办结的业务主键，返回台账中未办结或草稿、但不在其中的事项。不会关闭任何事项。每个 client 同时只能执行一个。',
    ],
    rejections: ['TOO_MANY_QUERIES'],
  },
  authentication: 'streamed',
  rate: 'request',
  isKeyed: false,
  body: {
    schema: 'OrphansLine',
    lines: LIST,
    limit: { bytes: ID_LIST_LIMIT },
    uploadTimeout: 120_000,
    examples: { example: [EXAMPLE_EXTERNAL_ID, { externalId: 'PR-2026-002' }] },
  },
  timeout: 'PUSH_TIMEOUT',
  answer: {
    description: FOUND,
    schema: ['Orphan', 'OrphansEnd', 'ErrorAnswer'],
    examples: {
      example: [ORPHAN, successEnvelope(ORPHAN_COUNT, EXAMPLE_REQUEST_ID, EXAMPLE_TIME)],
    },
  },
};
