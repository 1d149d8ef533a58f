/** The unsigned operations: the health checks, and the request for the OpenAPI document. */

import { type Bilingual, bilingual, bilingualTitle } from '../protocol/language';
import { ALIVE_PATH, DOCUMENT_PATH, READY_PATH } from '../protocol/paths';
import { headerRefs } from './headers';
import type { JsonValue } from './json-schema';
import { rejections, success } from './responses';

/** The service can send these rejections on every path. */
const UNREADABLE = rejections(['HEADERS_TOO_LARGE', 'MALFORMED_REQUEST', 'REQUEST_TIMEOUT'], false);

const unsignedOperation = (
  id: string,
  title: Bilingual,
  description: Bilingual,
  responses: JsonValue,
): JsonValue => ({
  get: {
    operationId: id,
    tags: ['service'],
    summary: bilingualTitle(title),
    description: bilingual(description),
    security: [],
    responses: { ...responses, ...UNREADABLE },
  },
});

const okResponse = (description: Bilingual, answer: string, status: string) => ({
  description: bilingual(description),
  ...success(answer, { example: { status } }),
});

export const servicePaths = (): Record<string, JsonValue> => ({
  [ALIVE_PATH]: unsignedOperation(
    'isAlive',
    ['Liveness', '进程是否存活'],
    [
      'The status is 200 in every HTTP_STATUS_MODE, even while the process stops.',
      '停止过程中也返回 200。状态码不受 HTTP_STATUS_MODE 影响。',
    ],
    { 200: okResponse(['The process is alive', '存活'], 'AliveAnswer', 'alive') },
  ),
  [READY_PATH]: unsignedOperation(
    'isReady',
    ['Readiness', '进程是否就绪'],
    [
      'Ready if the database is prepared and accepts writes, the queue is available, and the process is not stopping. If the memory of the queue is full, the process stays ready but rejects pushes. HTTP_STATUS_MODE does not change the status.',
      '数据库已准备且可写、队列可用且未在停止时就绪；队列内存已满不影响就绪，推送会因此被拒绝。状态码不受 HTTP_STATUS_MODE 影响。',
    ],
    {
      200: okResponse(['The process is ready', '就绪'], 'ReadyAnswer', 'ready'),
      ...rejections(
        ['SHUTTING_DOWN', 'DATABASE_UNAVAILABLE', 'DATABASE_NOT_PREPARED', 'QUEUE_UNAVAILABLE'],
        false,
      ),
    },
  ),
  [DOCUMENT_PATH]: unsignedOperation(
    'getOpenApi',
    ['OpenAPI document', 'OpenAPI 文档'],
    [
      'The document shows the default settings, not the current settings. HEAD is supported too.',
      '内容不随配置变化，所列为默认值。也支持 HEAD。',
    ],
    {
      200: {
        description: bilingual(['The OpenAPI 3.1 document', 'OpenAPI 3.1 文档']),
        ...headerRefs(['ETag', 'Cache-Control']),
        content: { 'application/json': { schema: { type: 'object' } } },
      },
      304: {
        description: bilingual([
          'Unchanged: If-None-Match contains the ETag',
          '与 If-None-Match 相同，未变化',
        ]),
        ...headerRefs(['ETag', 'Cache-Control']),
      },
    },
  ),
});
