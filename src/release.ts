/** The `release` step: prepares the database before new processes start. */

import { readConfig } from './infra/config';
import { runMain } from './infra/lifecycle';
import { createLogger } from './infra/logger';
import { connectMongo } from './infra/mongo';
import type { ProcessOptions } from './process';
import { prepareDatabase } from './storage/schema';

/** Maximum milliseconds of one database command. Creating an index of a large push log can take hours. */
const COMMAND_TIMEOUT = 6 * 3_600_000;

/**
 * Creates collections and indexes, sets the retention of the push log, and corrects the phases of matters after a
 * change of CONCLUDED_STATUSES.
 *
 * @throws ConfigError, DatabaseSetupError, or the driver's error
 */
export async function release({ env, log }: Pick<ProcessOptions, 'env' | 'log'>): Promise<void> {
  const config = readConfig(env);
  const logger = createLogger('release', config.LOG_LEVEL, { to: log });
  const mongo = await connectMongo(config.MONGO_URL, COMMAND_TIMEOUT);
  try {
    await prepareDatabase(mongo, {
      retention: config.PUSH_LOG_RETENTION,
      bodyRetention: config.PUSH_BODY_RETENTION,
      concluded: config.CONCLUDED_STATUSES,
    });
    logger.info('collections and indexes are up to date');
  } finally {
    await mongo.close();
  }
}

if (require.main === module) runMain(() => release({ env: process.env }));
