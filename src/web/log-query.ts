/** The push log as its own clients may search it, with the diagnosis of rejected signatures. */
import type { Connection } from 'mongoose';
import { createFindHeldSecrets } from '../directory/held-secrets';
import type { KeyRing } from '../directory/sealing';
import { createMutex } from '../mutex';
import { createBodies } from '../push-log/bodies';
import type { FindKeyUses } from '../push-log/key-uses';
import { createReadCounts } from '../push-log/read-counts';
import { createLogSearch } from '../push-log/search';
import { createLogQuery } from '../reconcile/log-query';
import type { AnswerQuery } from '../reconcile/open-query';
import { createDiagnoseEntry } from '../signature-diagnosis/diagnose-entry';

/** Milliseconds of work for what was wrong with one signature. */
const DIAGNOSIS_TIME = 100;

export interface LogQueryParts {
  readonly mongo: Connection;
  readonly keyRing: KeyRing;
  readonly keyUses: FindKeyUses;
  /** PORTAL_TIME_ZONE */
  readonly timeZone: string;
}

export function openLogQuery(parts: LogQueryParts): AnswerQuery {
  const { mongo, keyRing, keyUses, timeZone } = parts;
  return createLogQuery({
    search: createLogSearch(mongo),
    counts: createReadCounts(mongo),
    keyUses,
    bodies: createBodies(mongo),
    diagnose: createDiagnoseEntry(
      createFindHeldSecrets(mongo, keyRing),
      { time: DIAGNOSIS_TIME, clock: () => performance.now() },
      createMutex(),
    ),
    timeZone,
  });
}
