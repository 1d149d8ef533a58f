/** Diagnoses refused requests of the push log when somebody asks for one of them; never when they come. */
import type { Diagnosis } from '../contract/diagnosis';
import type { FindHeldSecrets } from '../directory/held-secrets';
import type { OneAtATime } from '../one-at-a-time';
import type { LogEntry } from '../push-log/entry-model';
import { type Bounds, diagnoseInSlices } from './diagnose';
import { refusedRequest } from './refused-request';

/** @returns undefined where the entry was not refused for its signature or timestamp */
export type DiagnoseEntry = (
  entry: LogEntry,
  body: Uint8Array | undefined,
) => Promise<Diagnosis | undefined>;

/**
 * One at a time: of the time of a process, diagnoses take a third at most, whoever asks for how many.
 *
 * @param queue shared by all that the process diagnoses
 */
export function createRefusalDoctor(
  findSecrets: FindHeldSecrets,
  bounds: Bounds,
  queue: OneAtATime,
): DiagnoseEntry {
  return async (entry, body) => {
    const request = refusedRequest(entry, body);
    if (!request) return undefined;
    const secrets = await findSecrets(entry.clientId);
    return queue(() => diagnoseInSlices(request, secrets, bounds));
  };
}
