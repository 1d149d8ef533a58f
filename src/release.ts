/** The `release` step: run once per deployment, before the new processes start. */
import { readConfig } from './runtime/config';
import { runMain } from './runtime/lifecycle';
import { createLogger } from './runtime/logger';
import { prepareDatabase } from './storage/indexes';
import { connectMongo } from './storage/mongo';

/** Milliseconds for one command: an index of a large log takes its time. */
const TIMEOUT = 6 * 3_600_000;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const logger = createLogger('release', config.LOG_LEVEL);
  const mongo = await connectMongo(config.MONGO_URL, TIMEOUT);
  const dropped = await prepareDatabase(mongo, {
    retention: config.PUSH_LOG_RETENTION,
    bodyRetention: config.PUSH_BODY_RETENTION,
    concluded: config.CONCLUDED_STATUSES,
  });
  await mongo.close();
  if (dropped.length > 0) logger.info({ dropped }, 'indexes of earlier versions were dropped');
  logger.info('collections and indexes are up to date');
}

runMain(main);
