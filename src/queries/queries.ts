/** Creates the functions that answer the signed queries. */
import type { Connection } from 'mongoose';
import type { Clock } from '../concurrency/timing';
import { createMutex } from '../concurrency/turns';
import type { QueryAnswers, QueryName } from '../protocol/endpoints';
import { createDiagnoseEntry } from '../signature-diagnosis/diagnose';
import { createFindStoredSecrets } from '../storage/directory';
import type { KeyRing } from '../storage/directory/sealing';
import type { MatterReader } from '../storage/ledger';
import {
  createBodies,
  createFindMended,
  createLogSearch,
  createPushCountReader,
  type FindKeyUses,
} from '../storage/push-log';
import { createFailures } from './failures';
import { createLogQuery } from './log-query';
import { createMatterQueries } from './matter-queries';
import { createStatsQuery } from './push-stats';
import { createClientSelf, createUsersCheck, type SelfSettings } from './self-queries';
import type { AnswerQuery } from './signed-query';

/** Maximum milliseconds of processor time for the diagnosis of one signature. */
const DIAGNOSIS_TIME = 100;

export interface QueriesDependencies {
  readonly mongo: Connection;
  readonly matters: MatterReader;
  readonly keyRing: KeyRing;
  readonly keyUses: FindKeyUses;
  readonly clock: Clock;
  /** PUSH_LOG_RETENTION, milliseconds. */
  readonly retention: number;
  readonly settings: SelfSettings;
}

export type Queries = { readonly [Name in QueryName]: AnswerQuery<QueryAnswers[Name]> };

export function createQueries(deps: QueriesDependencies): Queries {
  const { mongo, keyRing, keyUses, clock, retention, settings } = deps;
  const { timeZone } = settings;
  const counts = createPushCountReader(mongo);
  const search = createLogSearch(mongo);
  const secrets = createFindStoredSecrets(mongo, keyRing);
  const limit = { time: DIAGNOSIS_TIME, clock: processorTime };
  const diagnose = createDiagnoseEntry(secrets, limit, createMutex());
  const bodies = createBodies(mongo);
  const findMended = createFindMended(mongo);
  const matters = createMatterQueries({ reader: deps.matters, timeZone, clock });
  return {
    'push-logs/query': createLogQuery({ search, counts, keyUses, bodies, diagnose, timeZone }),
    'push-logs/failures': createFailures({
      search,
      findMended,
      counts,
      timeZone,
      retention,
      clock,
    }),
    'push-logs/stats': createStatsQuery({ counts, timeZone, clock }),
    'matters/get': matters.get,
    'matters/query': matters.query,
    'matters/diff': matters.diff,
    'matters/digest': matters.digest,
    'users/check': createUsersCheck(mongo),
    'clients/me': createClientSelf(mongo, settings, clock),
  };
}

/** In milliseconds. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
