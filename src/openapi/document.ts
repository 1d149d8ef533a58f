/** Makes the OpenAPI 3.1 document from the endpoint table and from the schemas that validate requests. */

import { bilingual, bilingualTitle } from '../protocol/language';
import { VERSION } from '../protocol/version';
import { parameters, responseHeaders, securitySchemes } from './headers';
import { introduction } from './introduction';
import { type JsonValue, toJsonSchemas } from './json-schema';
import { sharedRejections, signedPaths } from './operations';
import { reasonExamples } from './reasons';
import { unmatchedResponses } from './responses';
import { answerSchemas, requestSchemas } from './schemas';
import { servicePaths } from './unsigned-operations';

/** @throws Error if a field has no description */
export function openApiDocument(): JsonValue {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Matter Push',
      version: VERSION,
      summary: bilingualTitle([
        'Signed pushes of matters into the ledger of a portal',
        '向门户事项台账推送待办和通知',
      ]),
      description: introduction(),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: '/',
        description: bilingual(['The service that serves this document', '本文档所在的服务']),
      },
    ],
    tags: [
      { name: 'push', description: bilingual(['Writing matters', '写入事项']) },
      {
        name: 'query',
        description: bilingual(['Read-only queries for reconciliation', '对账查询，不做任何改变']),
      },
      { name: 'service', description: bilingual(['The service itself', '服务自身']) },
    ],
    paths: { ...signedPaths(), ...servicePaths() },
    components: {
      schemas: toJsonSchemas({ ...requestSchemas(), ...answerSchemas() }),
      securitySchemes: securitySchemes(),
      parameters: parameters(),
      headers: responseHeaders(),
      responses: { ...sharedRejections(), ...unmatchedResponses() },
      examples: reasonExamples(),
    },
  };
}
