/** The part of openapi.json that the page reads. */

/** The text in English and in Chinese. */
export type Words = readonly [english: string, chinese: string];

export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly format?: string;
  readonly contentSchema?: Schema;
  readonly default?: unknown;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface Ref {
  readonly $ref: string;
}

export interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Ref>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface Header {
  /** Of a parameter. */
  readonly name?: string;
  readonly description: string;
  readonly required: boolean;
  readonly schema: Schema;
  readonly example?: string;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Ref[];
  readonly requestBody?: {
    readonly description: string;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, Response | Ref>>;
}

/** An example of an error answer with its reason. */
export interface ReasonExample {
  readonly summary: string;
  readonly description: string;
  readonly value: {
    readonly code: number;
    readonly message: string;
    readonly retryable: boolean;
    readonly errors?: readonly unknown[];
  };
}

export interface Api {
  readonly info: {
    readonly version: string;
    readonly summary: string;
    readonly description: string;
  };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Header>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly examples: Readonly<Record<string, ReasonExample>>;
  };
}

/** An operation with its path and method. */
export interface Endpoint {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

/** A signed request. */
export interface SignedCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The signed text; it does not contain the secret. */
  readonly signed: string;
}

export interface Demo {
  readonly clientId: string;
  readonly secret: string;
}
