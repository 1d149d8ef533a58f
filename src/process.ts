/** What every long-running process starts with: settings, log, lifecycle, and its two servers. */
import type { Redis } from 'ioredis';
import type { Connection } from 'mongoose';
import { type Config, readConfig, redactConfig } from './config';
import { createLifecycle, type Lifecycle } from './lifecycle';
import { createLogger, type Logger } from './logger';
import { connectMongo } from './mongo';
import { createRedisKeys, type RedisKeys } from './queue/keys';
import { createLanes, type Lanes } from './queue/lanes';
import { connectFailFast, redisReady } from './queue/redis';
import { createTurns, type Turns } from './queue/turns';

export interface Process {
  readonly config: Config;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly mongo: Connection;
  readonly redis: Redis;
  readonly keys: RedisKeys;
  readonly lanes: Lanes;
  readonly turns: Turns;
}

/**
 * @throws ConfigError, DatabaseSetupError, or an Error naming REDIS_URL; nothing serves yet then
 */
export async function startProcess(type: 'web' | 'worker'): Promise<Process> {
  const config = readConfig(process.env);
  const logger = createLogger(type, config.LOG_LEVEL);
  logger.info({ config: redactConfig(config) }, 'starting');
  const lifecycle = createLifecycle(logger, config.DRAIN_TIMEOUT);

  const mongo = await connectMongo(config.MONGO_URL);
  lifecycle.onStop('database', () => mongo.close());
  const redis = connectFailFast(config.REDIS_URL, logger);
  await redisReady(redis);
  lifecycle.onStop('redis', () => redis.disconnect());

  const keys = createRedisKeys(config.REDIS_NAMESPACE);
  const lanes = createLanes(redis, keys, config.LANE_LIMIT);
  const turns = createTurns(redis, keys);
  lifecycle.onStop('turns', () => turns.close());
  return { config, logger, lifecycle, mongo, redis, keys, lanes, turns };
}
