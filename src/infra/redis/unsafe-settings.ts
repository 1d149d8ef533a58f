/** Warns of Redis settings that can lose pushes or change the order of pushes (docs/installation.md). */
import type { Logger } from '../logger';
import { primariesOf, type RedisConnection } from './connect';
import { parseRedisUrl } from './url';

interface UnsafeSetting {
  readonly setting: string;
  /** The possible damage, and what the operator should do. */
  readonly advice: string;
}

export async function warnOfUnsafeSettings(
  redis: RedisConnection,
  url: string,
  logger: Logger,
): Promise<void> {
  const isSentinelGroup = parseRedisUrl(url).form === 'sentinel';
  const read = async (primary: Pick<RedisConnection, 'info'>) => {
    try {
      return unsafeSettings(await primary.info(), isSentinelGroup);
    } catch (error) {
      logger.debug({ error: String(error) }, 'could not read the settings of redis');
      return [];
    }
  };
  const found = (await Promise.all(primariesOf(redis).map(read))).flat();
  const distinct = new Map(found.map((one) => [one.setting, one]));
  for (const one of distinct.values()) logger.warn(one, 'unsafe setting of redis');
}

/** @param info the answer of a primary to INFO */
export function unsafeSettings(info: string, isSentinelGroup: boolean): UnsafeSetting[] {
  const found: UnsafeSetting[] = [];
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  if (policy !== undefined && policy !== 'noeviction') {
    found.push({
      setting: `maxmemory-policy ${policy}`,
      advice:
        'if the memory is full, Redis can delete data of the queue; set maxmemory-policy noeviction',
    });
  }
  // A primary reports `min_slaves_good_slaves` only if min-replicas-to-write and min-replicas-max-lag are above 0.
  if (isSentinelGroup && !/^min_slaves_good_slaves:/m.test(info)) {
    found.push({
      setting: 'min-replicas-to-write or min-replicas-max-lag is 0',
      advice:
        'during a failover, two primaries can accept pushes of the same matter, so the order of these pushes can change; ' +
        'set min-replicas-to-write 1 and min-replicas-max-lag 2 on all servers of the group',
    });
  }
  return found;
}
