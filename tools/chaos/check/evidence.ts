/** The input of the check, and its results. */

import type { Matter } from '../../../src/domain/matter';
import type { LogEntry } from '../../../src/storage/push-log';
import type { ChaosHistory } from '../history';

export interface Evidence {
  readonly history: ChaosHistory;
  /** The whole ledger at the end. */
  readonly matters: readonly Matter[];
  /** The whole push log at the end. */
  readonly entries: readonly LogEntry[];
  /** Display names of the portal's users, by username; constant during a run. */
  readonly names: ReadonlyMap<string, string>;
  /** Values of bizStatus that conclude a matter. */
  readonly concluded: ReadonlySet<string>;
  /** IANA zone in which the processes read local date-times. */
  readonly timeZone: string;
  /** When the last fault was undone, by the clock of the history; callers continued after it. */
  readonly faultsEndedAt: number;
  /** Names of the Redis keys that remain at the end: partitions, partition jobs, locks. */
  readonly leftovers: readonly string[];
}

export interface Violation {
  readonly rule: Rule;
  /** What was found, and what was expected. */
  readonly what: string;
  readonly requestId?: string;
  readonly externalId?: string;
}

/** The promises that the check verifies, by the name of their rule. */
export const PROMISES = {
  acknowledged:
    'The log has every push that was answered with code 0 as persisted or replayed, with the outcome and the matter of the answer.',
  'answer-agrees':
    'The answer and the log state the same result, also of a rejected push. HTTP status and code agree as well.',
  'wrongly-rejected':
    'A valid push is rejected only because of the state of its matter, or because the service is unavailable. An invalid push is always rejected as VALIDATION_FAILED.',
  phantom:
    'Every entry of the log and every matter of the ledger results from a request that a caller sent.',
  revisions:
    'The effects on a matter are its revisions 1, 2, 3, …: none is missing, and none occurs twice.',
  fold: 'The operations with an effect, applied one by one in the order of their revisions, give the recorded outcomes and the stored matter.',
  'real-time':
    'A push that was answered before another one was sent took effect before it, in whichever processes they were handled.',
  'queue-order':
    'The pushes of a matter are decided in the order of the queue: the revisions follow `queuedAt`. A push without an effect is decided after the effects that were queued before it, and before the effects that were queued after it.',
  placeable:
    'The answer to a push without an effect fits a state that its matter had between the request and the answer.',
  'batch-order':
    'The lines of one matter in a batch take effect in their order. After a line that failed because a server was unavailable, later lines are not applied. Lines are skipped for no other reason.',
  'batch-answer':
    'A batch is answered line by line, in order. Its status, code and counts are those of its lines. The entry of each line names its batch and its line number.',
  'one-effect':
    'All attempts of a push with an idempotency key take effect once; the other attempts repeat the outcome.',
  'one-matter-id': 'A key has one matter id forever.',
  'late-effect': 'A push that a worker reads after its deadline takes no effect.',
  'answered-in-time': 'Every request ends by its deadline plus one second.',
  connection: 'A connection breaks only if its own web process was killed or restarted.',
  settled: 'Every entry of the log is settled at the end.',
  recovery:
    'From ten seconds after the last fault, no request fails, and every answer arrives within two and a half seconds. Time in which a server itself stands still does not count.',
  leftover: 'No push, partition job or lock remains.',
  served:
    'At least half of the valid operations were accepted, or rejected by the state of their matter. Otherwise the run has tested too little.',
  measurable:
    'The harness itself stood still for at most a tenth of the run. Otherwise its times prove nothing.',
} as const;

export type Rule = keyof typeof PROMISES;
