/** What a client may ask about itself and about the portal's users: `users/check`, `clients/me`. */
import { z } from 'zod';
import * as fields from './fields';
import { bounded } from './query-body';

/** Most names of one check. */
const MAX_USERNAMES = 1_000;

/** The length comes first: what is far too long is rejected without a word about each name. */
export const usersCheckSchema = z.object({ usernames: bounded(fields.username, MAX_USERNAMES) });

export const clientSelfSchema = z.object({});

/** ENABLED may be named in a push; the others are rejected there as UNKNOWN_USER. */
export type UserState = 'ENABLED' | 'DISABLED' | 'UNKNOWN';

/** `data` of users/check. */
export interface CheckedUsers {
  /** Whether all of them may be named in a push. */
  readonly allEnabled: boolean;
  /** In the order asked, each name once. */
  readonly users: readonly { readonly username: string; readonly state: UserState }[];
}

/** `data` of clients/me. Instants are ISO-8601 in UTC. */
export interface ClientSelf {
  readonly clientId: string;
  readonly systemCode: string;
  /** Null: there is none. */
  readonly rate: ClientRate | null;
  /** Null: its pushes are taken. */
  readonly paused: { readonly since: string; readonly reason: string | null } | null;
  /** The current one first. */
  readonly secrets: readonly SecretView[];
  /** Of the portal: in which local date-times are read. */
  readonly timeZone: string;
  /** Values of bizStatus that conclude a matter. */
  readonly concludedStatuses: readonly string[];
  readonly retentions: Retentions;
  readonly limits: ServiceLimits;
  /** The clock of the service. */
  readonly serviceTime: string;
  readonly version: string;
}

export interface ClientRate {
  /** Requests per second. */
  readonly perSecond: number;
  /** Requests at once above it. */
  readonly burst: number;
}

export interface SecretView {
  readonly secretId: string;
  readonly createdAt: string;
  /** When it ends; null: it does not. */
  readonly endsAt: string | null;
  /** Known within a minute; null: never. */
  readonly lastUsedAt: string | null;
}

/** All in seconds. */
export interface Retentions {
  readonly pushLog: number;
  /** 0: bodies are not kept. */
  readonly bodies: number;
  /** How long a retry is answered with its first outcome; 0: it is applied again. */
  readonly replay: number;
}

export interface ServiceLimits {
  readonly bodyBytes: number;
  /** How long a caller waits for the confirmed write, milliseconds. */
  readonly pushTimeout: number;
  /** How far X-Timestamp may be off, seconds. */
  readonly timestampWindow: number;
  /** How long a signature may be used for something else too, seconds; null: as long as it is valid. */
  readonly signatureGrace: number | null;
  readonly parties: number;
}
