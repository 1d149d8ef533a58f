/** The queries `matters/get`, `matters/query`, `matters/diff` and `matters/digest`. */
import type { Clock } from '../concurrency/timing';
import { runInSlices } from '../concurrency/turns';
import { fieldNotAllowed } from '../protocol/errors';
import type { ChangesPage, GotMatters } from '../protocol/matter-answers';
import { createMatterQueryReaders } from '../protocol/matter-queries';
import { type MatterView, withoutTexts } from '../protocol/matter-view';
import type { MatterReader } from '../storage/ledger';
import { createDiffMatters } from './diff-matters';
import { createDigestMatters } from './digest-matters';
import { createGetMatters } from './get-matters';
import { createQueryMatters } from './query-matters';
import type { SignedQuery } from './signed-query';

export interface MatterQueriesDependencies {
  readonly reader: MatterReader;
  /** PORTAL_TIME_ZONE */
  readonly timeZone: string;
  readonly clock: Clock;
}

type SystemQuery = Pick<SignedQuery, 'systemCode' | 'queryKey' | 'body'>;

const visibleTo = <T extends { readonly matters: readonly MatterView[] }>(
  { queryKey }: SystemQuery,
  answer: T,
) => (queryKey?.noBodies ? { ...answer, matters: answer.matters.map(withoutTexts) } : answer);

export function createMatterQueries({ reader, timeZone, clock }: MatterQueriesDependencies) {
  const read = createMatterQueryReaders(timeZone);
  const get = createGetMatters(reader, timeZone);
  const query = createQueryMatters(reader, timeZone, clock);
  const diff = createDiffMatters(reader);
  const digest = createDigestMatters(reader, timeZone);
  return {
    get: async (signed: SystemQuery): Promise<GotMatters> =>
      visibleTo(signed, await get(signed.systemCode, read.get(signed.body))),
    query: async (signed: SystemQuery): Promise<ChangesPage> => {
      const request = read.query(signed.body);
      // Query keys without access to titles must not search for words in titles.
      if (request.titleContains !== undefined && signed.queryKey?.noBodies) {
        throw fieldNotAllowed('titleContains');
      }
      return visibleTo(signed, await query(signed.systemCode, request));
    },
    diff: async ({ systemCode, body }: SystemQuery) =>
      diff(systemCode, await runInSlices(read.diff(body))),
    digest: ({ systemCode, body }: SystemQuery) => digest(systemCode, read.digest(body)),
  };
}
