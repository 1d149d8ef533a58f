/** What a command is given by the program around it: where it reads, writes and finds servers. */
import type { Readable, Writable } from 'node:stream';
import type { Config } from '../../src/runtime/config';

export interface Tool {
  readonly settings: Settings;
  readonly stdin: Readable;
  /** Results only, so that they can be piped on. */
  readonly stdout: Writable;
  /** Hints, progress and errors. */
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

export interface Settings {
  /** @throws CommandFailure where neither MONGO_URL nor a running `npm start` tells */
  mongo(): ChosenServer;
  /** @throws CommandFailure where no `npm start` runs here */
  serviceUrl(): string;
  /** PUBLIC_URL, else that of a running `npm start`. @throws CommandFailure where neither tells */
  publicUrl(): string;
  /** `id:base64` entries. @throws CommandFailure where there are none */
  secretKeys(): readonly string[];
  /** PORTAL_TIME_ZONE */
  timeZone(): string;
  /** CONCLUDED_STATUSES */
  concluded(): ReadonlySet<string>;
  /**
   * What it takes to queue a push. The other settings must be those of the service's processes.
   *
   * @throws CommandFailure where neither REDIS_URL nor a running `npm start` tells
   */
  queue(): QueueSettings;
  /** Of the product. */
  readonly version: string;
}

/** A server's URL, and what it was taken from, e.g. `from MONGO_URL`. */
export interface ChosenServer {
  readonly url: string;
  readonly chosen: string;
}

export type QueueSettings = Pick<
  Config,
  | 'REDIS_URL'
  | 'REDIS_NAMESPACE'
  | 'REDIS_SHARDS'
  | 'PARTITION_LIMIT'
  | 'PARTITION_BYTES'
  | 'PUSH_TIMEOUT'
  | 'PUSH_BODY_RETENTION'
>;
