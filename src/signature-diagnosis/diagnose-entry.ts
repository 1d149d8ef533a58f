/** Diagnoses rejected requests of the push log when somebody asks for one of them; never when they come. */

import type { Mutex } from '../concurrency/mutex';
import type { Diagnosis } from '../protocol/diagnosis';
import type { FindHeldSecrets } from '../storage/directory/held-secrets';
import type { LogEntry } from '../storage/push-log/entry-model';
import { type Bounds, diagnoseInSlices } from './diagnose';
import { rejectedRequest } from './rejected-request';

/** @returns undefined where the entry was not rejected for its signature or timestamp */
export type DiagnoseEntry = (
  entry: LogEntry,
  body: Uint8Array | undefined,
) => Promise<Diagnosis | undefined>;

/**
 * Diagnoses run one at a time and take a third of a process's time at most, however many are asked for.
 *
 * @param queue shared by all that the process diagnoses
 */
export function createDiagnoseEntry(
  findSecrets: FindHeldSecrets,
  bounds: Bounds,
  queue: Mutex,
): DiagnoseEntry {
  return async (entry, body) => {
    const request = rejectedRequest(entry, body);
    if (!request) return undefined;
    const secrets = await findSecrets(entry.clientId);
    return queue(() => diagnoseInSlices(request, secrets, bounds));
  };
}
