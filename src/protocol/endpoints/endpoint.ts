/** The types of the rows of the endpoint table (`protocol/endpoints.ts`). */
import type { z } from 'zod';
import type { Reason } from '../errors';
import type { Bilingual } from '../language';

/** The settings on which an endpoint depends: bytes for the limits, milliseconds for the timeouts. */
export type EndpointSettings = Readonly<
  Record<'BODY_LIMIT' | 'BATCH_BODY_LIMIT' | 'PUSH_TIMEOUT' | 'BATCH_TIMEOUT', number>
>;

/** Default of BODY_LIMIT, bytes. */
export const BODY_LIMIT = 1024 * 1024;

/** A row: an endpoint that accepts signed POST requests. */
export interface Endpoint<Name extends string = string> {
  /** The name in metrics and in the push log. */
  readonly name: Name;
  /** The path is also part of the span names in traces. */
  readonly path: string;
  readonly document: {
    /** The operationId. */
    readonly id: string;
    readonly tag: 'push' | 'query';
    readonly title: Bilingual;
    readonly about: Bilingual;
    /** Reasons for rejections, in addition to the reasons that all signed endpoints share. */
    readonly rejections: readonly Reason[];
  };
  /**
   * `signature`: the digest of the body is computed after the body has arrived. `streamed`: the digest is computed
   * while the body arrives.
   */
  readonly authentication: 'signature' | 'streamed';
  /**
   * What counts as one request in the rate limit of the client. `request`: the whole request. `lines`: each line of the
   * body. `push`: each push; `src/pushes/submit.ts` counts the pushes.
   */
  readonly rate: 'push' | 'request' | 'lines';
  /** Whether the endpoint reads the headers X-Idempotency-Key and X-Strict-Fields. */
  readonly isKeyed: boolean;
  readonly body: EndpointBody;
  /** Milliseconds in which the service must answer, or the name of the setting with this number. */
  readonly timeout: 'PUSH_TIMEOUT' | 'BATCH_TIMEOUT' | number;
  readonly answer: EndpointAnswer;
}

interface EndpointBody {
  /** The name of the schema of the JSON object, or of each NDJSON line. */
  readonly schema: string;
  /** The description of an NDJSON body; absent: the body is a JSON object. */
  readonly lines?: Bilingual;
  /** True: the lines can also be the elements of a JSON array. */
  readonly isArrayToo?: true;
  readonly limit: {
    /** The limit, or the default of the setting. */
    readonly bytes: number;
    readonly setting?: 'BODY_LIMIT' | 'BATCH_BODY_LIMIT';
  };
  /** Milliseconds in which the body must arrive. */
  readonly uploadTimeout: number;
  /** Examples by name; for NDJSON, an example is a list of lines. */
  readonly examples: Readonly<Record<string, unknown>>;
}

interface EndpointAnswer {
  readonly about: Bilingual;
  /** The name of the schema of the answer; for NDJSON, the names of the possible schemas of a line. */
  readonly schema: string | readonly string[];
  /** Examples of `data` by name; for NDJSON, an example is a list of lines. */
  readonly examples: Readonly<Record<string, unknown>>;
  /** Names of response headers that only this endpoint sends. */
  readonly headers?: readonly string[];
  /**
   * The answer 207, if the endpoint has one. `retryable`: failed lines can succeed in a retry. `final`: the request
   * is a dry run, and its failed lines stay invalid.
   */
  readonly partial?: { readonly about: Bilingual; readonly kind: 'retryable' | 'final' };
}

/** The usual `uploadTimeout`, in milliseconds. Endpoints with larger bodies have their own value. */
export const UPLOAD_TIMEOUT = 12_000;

/** The row of a signed query. `queryEndpoint` converts this row to a row of the endpoint table. */
export interface QueryRow<Data> {
  /** The operationId in the OpenAPI document. */
  readonly id: string;
  readonly title: Bilingual;
  readonly about: Bilingual;
  readonly body: {
    /** The name of the schema in the OpenAPI document. */
    readonly name: string;
    /** @param timeZone zone of local date-times (PORTAL_TIME_ZONE) */
    readonly schema: (timeZone: string) => z.ZodType;
    readonly example: object;
  };
  readonly answer: {
    readonly name: string;
    readonly about: Bilingual;
    /** The name of the schema of `data` in `schemas`. */
    readonly data: string;
    readonly example: Data;
  };
  /**
   * Schemas of the answer that have a name in the OpenAPI document.
   *
   * @param causes all codes of docs/signature-causes.md
   */
  readonly schemas: (causes: readonly string[]) => Readonly<Record<string, z.ZodType>>;
  /** Reasons for rejections, in addition to the reasons that all queries share. */
  readonly rejections?: readonly Reason[];
  /** Bytes; absent: the setting BODY_LIMIT. */
  readonly bodyLimit?: number;
  /** Milliseconds in which the service must answer; absent: the setting PUSH_TIMEOUT. */
  readonly timeout?: number;
}

/** Returns the row unchanged. The compiler checks the example of the row against the type of `data`. */
export const signedQuery = <Data>(row: QueryRow<Data>): QueryRow<Data> => row;

/** The type of `data` in the answers to a query. */
export type DataOf<Row> = Row extends QueryRow<infer Data> ? Data : never;
