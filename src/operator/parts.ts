/** What the operator's screen needs of its process. */
import type { Connection } from 'mongoose';
import type { RedisKeys } from '../queue/keys';
import type { RedisConnection } from '../queue/redis';
import type { Logger } from '../runtime/logger';

export interface OperatorParts {
  /** The name of the process that serves it. */
  readonly name: string;
  /** PORTAL_TIME_ZONE, in which the page shows all times. */
  readonly timeZone: string;
  readonly mongo: Connection;
  /** One that fails fast, and has been ready. */
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  readonly logger: Logger;
  /** OPERATOR_TOKEN; empty: nothing can be changed. */
  readonly token: string;
}
