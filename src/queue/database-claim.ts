/**
 * One namespace belongs to one database: a worker of another database would find pushes whose log entries it does not
 * have. Processes hold a claim for their database in Redis and renew it. It expires soon after the last of
 * them has ended.
 */
import { type PollLoop, startPollLoop } from '../concurrency/poll-loop';
import type { Logger } from '../runtime/logger';
import type { RedisKeys } from './keys';
import { AT_MAXMEMORY, type RedisConnection } from './redis';

/** Milliseconds for which a claim holds without being renewed, and between two renewals. */
const CLAIM = 15_000;
const RENEW_EVERY = 4_000;

/**
 * KEYS: the claim. ARGV: the id of the database, its name, milliseconds, the id that this process claimed
 * before (a database that is restored under running processes gets another id). Returns the claim that holds.
 */
const TAKE = `${AT_MAXMEMORY}
local held = redis.call('GET', KEYS[1])
local id = held and string.match(held, '^%S+')
if not held or id == ARGV[1] or id == ARGV[4] then
  held = ARGV[1] .. ' ' .. ARGV[2]
  redis.call('SET', KEYS[1], held, 'PX', ARGV[3])
end
return held`;

export interface Database {
  /** Without blanks; the same for every process that uses the database, whatever its URL. */
  readonly id: string;
  /** Hosts and name, without a password. */
  readonly name: string;
}

export interface ClaimOptions {
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  /** REDIS_NAMESPACE */
  readonly namespace: string;
  readonly read: () => Promise<Database>;
  readonly logger: Logger;
}

/**
 * Claims the namespace for the database, and renews the claim until it is stopped.
 *
 * @throws Error naming both databases if processes of another one use the namespace
 */
export async function claimNamespace(options: ClaimOptions): Promise<PollLoop> {
  const { redis, keys, namespace, read, logger } = options;
  let claimed = '';
  const claim = async (): Promise<string | undefined> => {
    const { id, name } = await read();
    const held = String(await redis.eval(TAKE, 1, keys.database, id, name, CLAIM, claimed));
    claimed = id;
    if (held.startsWith(`${id} `)) return undefined;
    const other = held.slice(held.indexOf(' ') + 1);
    return (
      `REDIS_NAMESPACE ${namespace} is used by processes with the database ${other}, ` +
      `but MONGO_URL of this process leads to the database ${name}: ` +
      'set another REDIS_NAMESPACE, or stop those processes and wait 15 s'
    );
  };
  const conflict = await claim();
  if (conflict !== undefined) throw new Error(conflict);
  let isReported = false;
  return startPollLoop(
    async () => {
      const found = await claim();
      if (found !== undefined && !isReported) logger.error(found);
      isReported = found !== undefined;
    },
    RENEW_EVERY,
    (error) => logger.debug({ error: String(error) }, 'namespace not claimed, retrying'),
  );
}
