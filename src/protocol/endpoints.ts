/**
 * The endpoint table. To add a signed query, add a row to a file in `endpoints/` and a function to
 * `src/queries/queries.ts`.
 */
import { OPERATIONS, type OperationName } from '../domain/operation';
import {
  BODY_LIMIT,
  type DataOf,
  type Endpoint,
  type EndpointSettings,
  type QueryRow,
  UPLOAD_TIMEOUT,
} from './endpoints/endpoint';
import { MATTER_QUERIES, ORPHANS_ENDPOINT } from './endpoints/matters';
import { PUSH_LOG_QUERIES } from './endpoints/push-logs';
import {
  BATCH_ENDPOINT,
  pushEndpoint,
  VERIFY_BATCH_ENDPOINT,
  VERIFY_ENDPOINT,
} from './endpoints/pushes';
import { RESEND_ENDPOINT } from './endpoints/resend';
import { SELF_QUERIES } from './endpoints/self';
import {
  type BATCH,
  type ORPHANS,
  queryPath,
  type RESEND,
  type VERIFY,
  type VERIFY_BATCH,
} from './paths';

export type { Endpoint, EndpointSettings } from './endpoints/endpoint';
export { UPLOAD_TIMEOUT } from './endpoints/endpoint';
export { ORPHANS_ENDPOINT } from './endpoints/matters';

/** The queries with JSON bodies and answers. */
const QUERY_ROWS = { ...PUSH_LOG_QUERIES, ...MATTER_QUERIES, ...SELF_QUERIES };

export type QueryName = keyof typeof QUERY_ROWS;
export const QUERIES = Object.keys(QUERY_ROWS) as readonly QueryName[];

/** The type of `data` in the answer to each query. */
export type QueryAnswers = { readonly [Name in QueryName]: DataOf<(typeof QUERY_ROWS)[Name]> };

export type EndpointName =
  | OperationName
  | QueryName
  | typeof BATCH
  | typeof RESEND
  | typeof VERIFY
  | typeof VERIFY_BATCH
  | typeof ORPHANS;

/** All signed endpoints, in the order of the OpenAPI document. */
export const ENDPOINTS: readonly Endpoint<EndpointName>[] = [
  ...OPERATIONS.map(pushEndpoint),
  BATCH_ENDPOINT,
  VERIFY_BATCH_ENDPOINT,
  VERIFY_ENDPOINT,
  RESEND_ENDPOINT,
  ...QUERIES.map((name) => queryEndpoint(name, QUERY_ROWS[name])),
  ORPHANS_ENDPOINT,
];

const BY_PATH = new Map(ENDPOINTS.map((endpoint) => [endpoint.path, endpoint]));

export const endpointAt = (path: string): Endpoint<EndpointName> | undefined => BY_PATH.get(path);

const BY_NAME = new Map(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint]));

/** @returns the maximum milliseconds until the answer (`Endpoint.timeout`) */
export function timeoutOf(name: EndpointName, settings: EndpointSettings): number {
  const { timeout } = BY_NAME.get(name) as Endpoint;
  return typeof timeout === 'number' ? timeout : settings[timeout];
}

export const queryRows = (): readonly QueryRow<unknown>[] => Object.values(QUERY_ROWS);

function queryEndpoint(name: QueryName, row: QueryRow<unknown>): Endpoint<QueryName> {
  const { id, title, description, body, answer, bodyLimit, timeout = 'PUSH_TIMEOUT' } = row;
  const rejections = ['INVALID_JSON', 'TOO_MANY_QUERIES', ...(row.rejections ?? [])] as const;
  return {
    name,
    path: queryPath(name),
    document: { id, title, description, tag: 'query', rejections },
    authentication: 'signature',
    rate: 'request',
    isKeyed: false,
    body: {
      schema: body.name,
      limit: bodyLimit ? { bytes: bodyLimit } : { bytes: BODY_LIMIT, setting: 'BODY_LIMIT' },
      uploadTimeout: UPLOAD_TIMEOUT,
      examples: { example: body.example },
    },
    timeout,
    answer: {
      description: ['The requested data', '查询结果'],
      schema: answer.name,
      examples: { example: answer.example },
    },
  };
}
