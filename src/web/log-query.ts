/** The push log as its own clients may search it, with the diagnosis of rejected signatures. */
import type { Connection } from 'mongoose';
import { createMutex } from '../concurrency/mutex';
import { createLogQuery } from '../queries/log-query';
import type { AnswerQuery } from '../queries/open-query';
import { createDiagnoseEntry } from '../signature-diagnosis/diagnose-entry';
import { createFindHeldSecrets } from '../storage/directory/held-secrets';
import type { KeyRing } from '../storage/directory/sealing';
import { createBodies } from '../storage/push-log/bodies';
import type { FindKeyUses } from '../storage/push-log/key-uses';
import { createReadCounts } from '../storage/push-log/read-counts';
import { createLogSearch } from '../storage/push-log/search';

/** Milliseconds of processor time for what was wrong with one signature. */
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
      { time: DIAGNOSIS_TIME, clock: processorTime },
      createMutex(),
    ),
    timeZone,
  });
}

/** Milliseconds that this process has worked: other load on the machine shortens no diagnosis. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
