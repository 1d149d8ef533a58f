/** The queries with which a third party compares its own data with the ledger. */
import type { Clock } from '../concurrency/clock';
import { inSlices } from '../concurrency/time-slice';
import { createMatterQueryReaders } from '../protocol/matter-queries';
import type { MatterReader } from '../storage/ledger/matter-reader';
import { createDiffMatters } from './diff-matters';
import { createDigestMatters } from './digest-matters';
import { createGetMatters } from './get-matters';
import type { OpenQuery } from './open-query';
import { createQueryMatters } from './query-matters';

export interface MatterQueriesDependencies {
  readonly reader: MatterReader;
  /** PORTAL_TIME_ZONE */
  readonly timeZone: string;
  readonly clock: Clock;
}

/** Which client of the system asks makes no difference. */
type Question = Pick<OpenQuery, 'systemCode' | 'body'>;

/** @throws (what is built) PushError VALIDATION_FAILED naming what is wrong in the body */
export function createMatterQueries({ reader, timeZone, clock }: MatterQueriesDependencies) {
  const read = createMatterQueryReaders(timeZone);
  const get = createGetMatters(reader, timeZone);
  const query = createQueryMatters(reader, timeZone, clock);
  const diff = createDiffMatters(reader);
  const digest = createDigestMatters(reader, timeZone);
  return {
    get: ({ systemCode, body }: Question) => get(systemCode, read.get(body)),
    query: ({ systemCode, body }: Question) => query(systemCode, read.query(body)),
    diff: async ({ systemCode, body }: Question) =>
      diff(systemCode, await inSlices(read.diff(body))),
    digest: ({ systemCode, body }: Question) => digest(systemCode, read.digest(body)),
  };
}
