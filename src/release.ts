/** The `release` step: run once per deployment, before the new processes start. */
import type { ProcessOptions } from './process';
import { readConfig } from './runtime/config';
import { runMain } from './runtime/lifecycle';
import { createLogger } from './runtime/logger';
import { prepareDatabase } from './storage/indexes';
import { connectMongo } from './storage/mongo';

/** Milliseconds for one command: an index of a large log takes its time. */
const TIMEOUT = 6 * 3_600_000;

/** Makes the collections and indexes. @throws ConfigError, DatabaseSetupError */
export async function release({ env, log }: Pick<ProcessOptions, 'env' | 'log'>): Promise<void> {
  const config = readConfig(env);
  const logger = createLogger('release', config.LOG_LEVEL, { to: log });
  const mongo = await connectMongo(config.MONGO_URL, TIMEOUT);
  try {
    const dropped = await prepareDatabase(mongo, {
      retention: config.PUSH_LOG_RETENTION,
      bodyRetention: config.PUSH_BODY_RETENTION,
      concluded: config.CONCLUDED_STATUSES,
    });
    if (dropped.length > 0) logger.info({ dropped }, 'indexes of earlier versions were dropped');
    logger.info('collections and indexes are up to date');
  } finally {
    await mongo.close();
  }
}

if (require.main === module) runMain(() => release({ env: process.env }));
