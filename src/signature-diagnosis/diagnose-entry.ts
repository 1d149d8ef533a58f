/** Diagnoses rejected requests of the push log when somebody asks for one of them; never when they come. */
import type { Diagnosis } from '../contract/diagnosis';
import type { FindHeldSecrets } from '../directory/held-secrets';
import type { Mutex } from '../mutex';
import type { LogEntry } from '../push-log/entry-model';
import { type Bounds, diagnoseInSlices } from './diagnose';
import { rejectedRequest } from './rejected-request';

/** @returns undefined where the entry was not rejected for its signature or timestamp */
export type DiagnoseEntry = (
  entry: LogEntry,
  body: Uint8Array | undefined,
) => Promise<Diagnosis | undefined>;

/**
 * One at a time: of the time of a process, diagnoses take a third at most, whoever asks for how many.
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
