/** What a command gets from the program: its streams and its settings. Tests replace them. */
import type { Readable, Writable } from 'node:stream';
import type { Config } from '../../src/infra/config';

export interface Tool {
  readonly settings: Settings;
  readonly stdin: Readable;
  /** Only results, so that another program can read them. */
  readonly stdout: Writable;
  /** Hints, progress and errors. */
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

export interface Settings {
  /** @throws CommandFailure if MONGO_URL is not set and no `npm start` runs */
  mongo(): ChosenServer;
  /** @throws CommandFailure if no `npm start` runs on this machine */
  serviceUrl(): string;
  /** PUBLIC_URL, otherwise the URL of a running `npm start`. @throws CommandFailure if there is neither */
  publicUrl(): string;
  /** `id:base64` entries. @throws CommandFailure if there are none */
  secretKeys(): readonly string[];
  /** PORTAL_TIME_ZONE */
  timeZone(): string;
  /** CONCLUDED_STATUSES */
  concluded(): ReadonlySet<string>;
  /**
   * The settings that queue a push. All except REDIS_URL must be set as for the processes of the service.
   *
   * @throws CommandFailure if REDIS_URL is not set and no `npm start` runs
   */
  queue(): QueueSettings;
  /** Version of the product. */
  readonly version: string;
}

export interface ChosenServer {
  readonly url: string;
  /** Where the URL was found, for example `from MONGO_URL`. */
  readonly chosen: string;
}

export type QueueSettings = Pick<
  Config,
  | 'REDIS_URL'
  | 'REDIS_NAMESPACE'
  | 'REDIS_SHARDS'
  | 'REDIS_PARTITIONS'
  | 'PARTITION_LIMIT'
  | 'PARTITION_BYTES'
  | 'PUSH_TIMEOUT'
  | 'PUSH_BODY_RETENTION'
>;
