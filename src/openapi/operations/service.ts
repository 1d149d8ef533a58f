/** What anybody may ask the service itself, unsigned: health, and this document. */

import { type Bilingual, bilingual, bilingualTitle } from '../../protocol/bilingual';
import { ALIVE_PATH, DOCUMENT_PATH, READY_PATH } from '../../protocol/paths';
import type { AnswerName } from '../answer-schemas';
import { headerRefs } from '../headers';
import type { Json } from '../json-schema';
import { rejections, success } from '../responses';

/** What is found before anybody has looked at the path. */
const UNREADABLE = rejections(['HEADERS_TOO_LARGE', 'MALFORMED_REQUEST', 'REQUEST_TIMEOUT'], false);

const open = (id: string, title: Bilingual, about: Bilingual, responses: Json): Json => ({
  get: {
    operationId: id,
    tags: ['service'],
    summary: bilingualTitle(title),
    description: bilingual(about),
    security: [],
    responses: { ...responses, ...UNREADABLE },
  },
});

const told = (about: Bilingual, answer: AnswerName, status: string) => ({
  description: bilingual(about),
  ...success(answer, { example: { status } }),
});

export const servicePaths = (): Record<string, Json> => ({
  [ALIVE_PATH]: open(
    'isAlive',
    ['Liveness', '进程是否存活'],
    [
      'Also while it drains. Its status tells, whatever HTTP_STATUS_MODE says.',
      '停止过程中也返回 200。状态码不受 HTTP_STATUS_MODE 影响。',
    ],
    { 200: told(['It answers', '存活'], 'AliveAnswer', 'alive') },
  ),
  [READY_PATH]: open(
    'isReady',
    ['Readiness', '进程是否就绪'],
    [
      'Whether the database is prepared and takes writes, the queue can be used, and the process does not drain. A queue whose memory is full is no reason: pushes are rejected for it. Its status tells, whatever HTTP_STATUS_MODE says.',
      '数据库已准备且可写、队列可用且未在停止时就绪；队列内存已满不影响就绪，推送会因此被拒绝。状态码不受 HTTP_STATUS_MODE 影响。',
    ],
    {
      200: told(['It may', '就绪'], 'ReadyAnswer', 'ready'),
      ...rejections(
        ['SHUTTING_DOWN', 'DATABASE_UNAVAILABLE', 'DATABASE_NOT_PREPARED', 'QUEUE_UNAVAILABLE'],
        false,
      ),
    },
  ),
  [DOCUMENT_PATH]: open(
    'getOpenApi',
    ['OpenAPI document', 'OpenAPI 文档'],
    [
      'The same whatever the settings are; it tells their defaults. HEAD too.',
      '内容不随配置变化，所列为默认值。也支持 HEAD。',
    ],
    {
      200: {
        description: bilingual(['As OpenAPI 3.1', 'OpenAPI 3.1 文档']),
        ...headerRefs(['ETag', 'Cache-Control']),
        content: { 'application/json': { schema: { type: 'object' } } },
      },
      304: {
        description: bilingual(['As If-None-Match has it', '与 If-None-Match 相同，未变化']),
        ...headerRefs(['ETag', 'Cache-Control']),
      },
    },
  ),
});
