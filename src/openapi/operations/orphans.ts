/** The query that takes lines and answers with lines (docs/reconcile.md, "matters/orphans"). */

import type { Bilingual } from '../../protocol/bilingual';
import { successEnvelope } from '../../protocol/envelope';
import { MAX_ID_LINES } from '../../protocol/id-lines';
import { LIST_LIMIT } from '../../protocol/limits';
import { ORPHANS, queryPath } from '../../protocol/paths';
import { EXTERNAL_ID, MOMENT, REQUEST_ID } from '../examples/moment';
import { ORPHAN, ORPHAN_COUNT } from '../examples/queries';
import { SIGNED } from '../headers';
import { type Json, schemaRef } from '../json-schema';
import { admitted } from '../responses';
import { linesOf } from './lines';
import { bodyOf, signedOperation } from './signed';

const MOST = MAX_ID_LINES.toLocaleString('en');
const LIST: Bilingual = [
  `NDJSON: one id a line, as a JSON string or an object with \`externalId\`; at most ${MOST} lines of 16,384 characters, within two minutes`,
  `NDJSON：每行一个业务主键，为 JSON 字符串或含 externalId 的对象；最多 ${MOST} 行，每行最多 16,384 个字符，两分钟内发完`,
];
const FOUND: Bilingual = [
  'NDJSON: a line for each orphan, in the order of the ids, and the envelope as the last line. A stream without that line is incomplete; one that failed on the way ends with an error envelope.',
  'NDJSON：每个未列出的事项一行，按业务主键排序，最后一行是响应信封。没有最后一行表示不完整；中途失败时最后一行是错误信封。',
];

export function orphansPath(): Record<string, Json> {
  const taken = linesOf(LIST, schemaRef('OrphansLine'), [
    EXTERNAL_ID,
    { externalId: 'PR-2026-002' },
  ]);
  const line = { oneOf: ['Orphan', 'OrphansEnd', 'ErrorAnswer'].map(schemaRef) };
  const end = successEnvelope(ORPHAN_COUNT, REQUEST_ID, MOMENT);
  const operation = signedOperation({
    id: 'findOrphans',
    tag: 'query',
    title: ['Find orphans: open here, not in the list', '查找来源系统没有的未办结事项'],
    about: [
      'Takes the ids of everything that is open at the caller, and answers with what is open or a draft here and not among them. Nothing is closed by it. One at a time per client.',
      '提交来源系统全部未办结的业务主键，返回台账中未办结或草稿、但不在其中的事项。不会关闭任何事项。每个 client 同时只能执行一个。',
    ],
    parameters: SIGNED,
    requestBody: bodyOf(taken, LIST_LIMIT),
    success: admitted(FOUND, { content: linesOf(FOUND, line, [ORPHAN, end]) }),
    rejections: ['TOO_MANY_QUERIES'],
  });
  return { [queryPath(ORPHANS)]: operation };
}
