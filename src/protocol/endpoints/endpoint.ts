/** The types of the rows of the endpoint table (`protocol/endpoints.ts`). */
import type { z } from 'zod';
import type { Reason } from '../errors';
import type { Bilingual } from '../language';

/** Limits in bytes, timeouts in milliseconds. */
export type EndpointSettings = Readonly<
  Record<'BODY_LIMIT' | 'BATCH_BODY_LIMIT' | 'PUSH_TIMEOUT' | 'BATCH_TIMEOUT', number>
>;

/** Default of the setting BODY_LIMIT, in bytes. */
export const BODY_LIMIT = 1024 * 1024;

export interface Endpoint<Name extends string = string> {
  /** The name in metrics and in the push log. */
  readonly name: Name;
  readonly path: string;
  readonly document: {
    /** The `operationId` in the OpenAPI document. */
    readonly id: string;
    readonly tag: 'push' | 'query';
    readonly title: Bilingual;
    readonly description: Bilingual;
    /** Reasons for rejections, in addition to the reasons of all signed endpoints. */
    readonly rejections: readonly Reason[];
  };
  /** `signature`: the service hashes the complete body. `streamed`: the service hashes the body during the upload. */
  readonly authentication: 'signature' | 'streamed';
  /** The unit that the rate limit counts: each push, the request, or each line of a dry run. */
  readonly rate: 'push' | 'request' | 'lines';
  /** Whether the endpoint reads the headers X-Idempotency-Key and X-Strict-Fields. */
  readonly isKeyed: boolean;
  readonly body: EndpointBody;
  /**
   * Maximum milliseconds until the answer, or the name of the setting that contains this maximum. Exception: in
   * `matters/orphans`, the maximum applies to each group of lines.
   */
  readonly timeout: 'PUSH_TIMEOUT' | 'BATCH_TIMEOUT' | number;
  readonly answer: EndpointAnswer;
}

interface EndpointBody {
  /** Schema name of the JSON object, or of each NDJSON line. */
  readonly schema: string;
  /** Only for an NDJSON body: the description of the body. */
  readonly lines?: Bilingual;
  /** True: the body can be a JSON array instead of NDJSON. */
  readonly mayBeArray?: true;
  readonly limit: {
    /** Maximum bytes of the body. If `setting` is present, `bytes` is the default value of this setting. */
    readonly bytes: number;
    readonly setting?: 'BODY_LIMIT' | 'BATCH_BODY_LIMIT';
  };
  /** Milliseconds in which the body must arrive. */
  readonly uploadTimeout: number;
  /** Examples by name; for NDJSON, an example is a list of lines. */
  readonly examples: Readonly<Record<string, unknown>>;
}

interface EndpointAnswer {
  readonly description: Bilingual;
  /** Schema name of the answer; for NDJSON, schema names of all possible lines. */
  readonly schema: string | readonly string[];
  /** Examples of `data` by name; for NDJSON, an example is a list of lines. */
  readonly examples: Readonly<Record<string, unknown>>;
  /** Names of response headers in addition to the headers of all endpoints. */
  readonly headers?: readonly string[];
  /** The answer if at least one line fails. `retryable`: a retry can succeed. `final`: a retry cannot succeed. */
  readonly partial?: { readonly description: Bilingual; readonly kind: 'retryable' | 'final' };
}

/** The usual `uploadTimeout`, in milliseconds. */
export const UPLOAD_TIMEOUT = 12_000;

/** `queryEndpoint` (endpoints.ts) converts this row to an `Endpoint`. */
export interface QueryRow<Data> {
  readonly id: string;
  readonly title: Bilingual;
  readonly description: Bilingual;
  readonly body: {
    readonly name: string;
    /** @param timeZone PORTAL_TIME_ZONE */
    readonly schema: (timeZone: string) => z.ZodType;
    readonly example: object;
  };
  readonly answer: {
    readonly name: string;
    readonly description: Bilingual;
    /** Schema name of `data`; a key of `schemas`. */
    readonly data: string;
    readonly example: Data;
  };
  /** The named schemas of the answer. `causes`: the codes in docs/signature-causes.md. */
  readonly schemas: (causes: readonly string[]) => Readonly<Record<string, z.ZodType>>;
  /** Reasons for rejections, in addition to the reasons of all queries. */
  readonly rejections?: readonly Reason[];
  /** Maximum bytes of the body; absent: the setting BODY_LIMIT. */
  readonly bodyLimit?: number;
  /** Milliseconds in which the service must answer; absent: the setting PUSH_TIMEOUT. */
  readonly timeout?: number;
}

/** The compiler checks that the example of the row has the type `Data`. */
export const signedQuery = <Data>(row: QueryRow<Data>): QueryRow<Data> => row;

export type DataOf<Row> = Row extends QueryRow<infer Data> ? Data : never;
