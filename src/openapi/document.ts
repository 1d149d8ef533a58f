/**
 * The OpenAPI 3.1 document of the service. Its schemas are made of those that validate; what they
 * cannot say, and what they mean, stands beside them (`meta` in src/protocol).
 */

import { bilingual, bilingualTitle } from '../protocol/bilingual';
import { VERSION } from '../protocol/version';
import { aboutAll } from './about';
import { answerSchemas } from './answer-schemas';
import { answerHeaders, parameters, securitySchemes } from './headers';
import { type Json, toJsonSchemas } from './json-schema';
import { batchPaths } from './operations/batch';
import { orphansPath } from './operations/orphans';
import { pushPaths } from './operations/pushes';
import { queryPaths } from './operations/queries';
import { servicePaths } from './operations/service';
import { usualRejections } from './operations/signed';
import { verifyPath } from './operations/verify';
import { reasonExamples } from './reasons';
import { requestSchemas } from './request-schemas';
import { elsewhere } from './responses';

/** @throws Error where a field is not described */
export function openApiDocument(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Matter Push',
      version: VERSION,
      summary: bilingualTitle([
        "Signed pushes into a portal's ledger of matters",
        '向门户事项台账推送待办和通知',
      ]),
      description: aboutAll(),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: bilingual(['Where this document is', '本文档所在的服务']) }],
    tags: [
      { name: 'push', description: bilingual(['Writing matters', '写入事项']) },
      {
        name: 'query',
        description: bilingual(['Reconciling; changes nothing', '对账查询，不做任何改变']),
      },
      { name: 'service', description: bilingual(['The service itself', '服务自身']) },
    ],
    paths: {
      ...pushPaths(),
      ...batchPaths(),
      ...verifyPath(),
      ...queryPaths(),
      ...orphansPath(),
      ...servicePaths(),
    },
    components: {
      schemas: toJsonSchemas({ ...requestSchemas(), ...answerSchemas() }),
      securitySchemes: securitySchemes(),
      parameters: parameters(),
      headers: answerHeaders(),
      responses: { ...usualRejections(), ...elsewhere() },
      examples: reasonExamples(),
    },
  };
}

/** As it is served, and kept in docs/openapi.json. */
export const openApiText = () => `${JSON.stringify(openApiDocument(), null, 2)}\n`;
