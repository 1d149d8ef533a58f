/** The signed questions of third parties: each with the largest body and the time that it is given. */
import type { Clock } from '../concurrency/clock';
import type { Reach } from '../concurrency/reach';
import type { AppOptions } from '../http/app';
import { LINES_LIMIT } from '../protocol/limits';
import { createBulkhead } from '../queries/bulkhead';
import { createFailures } from '../queries/failures';
import { createMatterQueries } from '../queries/matter-queries';
import { createFindOrphans } from '../queries/orphans';
import { createStatsQuery } from '../queries/push-stats';
import type { Config } from '../runtime/config';
import { createMatterReader } from '../storage/ledger/matter-reader';
import { createFindMended } from '../storage/push-log/mended';
import { createReadCounts } from '../storage/push-log/read-counts';
import { createLogSearch } from '../storage/push-log/search';
import { type LogQueryParts, openLogQuery } from './log-query';
import { openClientSelf, openUsersCheck } from './self-queries';

/** Of one system, and of all. */
const QUERIES_AT_A_TIME = { perKey: 8, total: 32 };
/** Milliseconds: a digest reads all matters of its window. */
const DIGEST_TIMEOUT = 60_000;

export interface QueryParts extends Omit<LogQueryParts, 'timeZone'> {
  readonly config: Config;
  readonly clock: Clock;
  readonly database: Reach;
  /** @throws PushError where the service cannot go on */
  readonly checkReady: () => void;
}

export function openQueries(parts: QueryParts): Pick<AppOptions, 'query' | 'queries' | 'orphans'> {
  const { config, mongo, clock, database, checkReady } = parts;
  const { BODY_LIMIT: bodyLimit, PUSH_TIMEOUT: timeout, PORTAL_TIME_ZONE: timeZone } = config;
  const reader = createMatterReader(mongo);
  const matters = createMatterQueries({ reader, timeZone, clock });
  return {
    query: { bulkhead: createBulkhead(QUERIES_AT_A_TIME), database, timeout },
    queries: {
      'push-logs/query': { bodyLimit, answer: openLogQuery({ ...parts, timeZone }) },
      'push-logs/failures': {
        bodyLimit,
        answer: createFailures({
          search: createLogSearch(mongo),
          findMended: createFindMended(mongo),
          counts: createReadCounts(mongo),
          timeZone,
          retention: config.PUSH_LOG_RETENTION,
          clock,
        }),
      },
      'push-logs/stats': {
        bodyLimit,
        answer: createStatsQuery({ counts: createReadCounts(mongo), timeZone, clock }),
      },
      'matters/get': { bodyLimit: LINES_LIMIT, answer: matters.get },
      'matters/query': { bodyLimit, answer: matters.query },
      'matters/diff': { bodyLimit: LINES_LIMIT, answer: matters.diff },
      'matters/digest': { bodyLimit, timeout: DIGEST_TIMEOUT, answer: matters.digest },
      'users/check': { bodyLimit: LINES_LIMIT, answer: openUsersCheck(mongo) },
      'clients/me': { bodyLimit, answer: openClientSelf(mongo, config, clock) },
    },
    orphans: { find: createFindOrphans(reader), checkReady, database, timeout },
  };
}
