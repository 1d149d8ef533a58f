/** Where everything is (specification 1 and 4): the app routes by it, and the OpenAPI document tells it. */
import type { OperationName } from '../domain/operation';

/** Everything that third parties call lies under it. */
export const OPEN_PATH = '/api/open';

/** The signed queries that take a JSON object, below the base path. */
export const QUERIES = [
  'push-logs/query',
  'push-logs/failures',
  'push-logs/stats',
  'matters/get',
  'matters/query',
  'matters/diff',
  'matters/digest',
  'users/check',
  'clients/me',
] as const;
export type QueryName = (typeof QUERIES)[number];

/** The one that takes lines and answers with lines. */
export const ORPHANS = 'matters/orphans';

/** The dry run of a push. */
export const VERIFY = 'verify';

/** Many pushes in one request, a line each (protocol/batch.ts). In the push log its name where no line has one. */
export const BATCH = 'matters/batch';
export const BATCH_PATH = `${OPEN_PATH}/${BATCH}`;

/** Its dry run: the same lines, nothing is written. */
export const VERIFY_BATCH = 'verify/batch';

export const pushPath = (operation: OperationName) => `${OPEN_PATH}/matters/${operation}`;
export const queryPath = (name: QueryName | typeof ORPHANS | typeof VERIFY | typeof VERIFY_BATCH) =>
  `${OPEN_PATH}/${name}`;

/** What anybody may ask, unsigned. */
export const ALIVE_PATH = '/healthz';
export const READY_PATH = '/readyz';
export const DOCUMENT_PATH = '/openapi.json';
/** The reference page; its files lie below. */
export const DOCS_PATH = '/docs';
/** The page of people at the business systems; its files lie below. */
export const CONSOLE_PATH = '/console';
