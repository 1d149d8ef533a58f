/** What a checker is given of a run, and what it finds. */

import type { Matter } from '../../../src/domain/matter';
import type { LogEntry } from '../../../src/storage/push-log/entry-model';
import type { History } from '../history';

export interface Evidence {
  readonly history: History;
  /** The whole ledger at the end. */
  readonly matters: readonly Matter[];
  /** The whole push log at the end. */
  readonly entries: readonly LogEntry[];
  /** Display names of the portal's users, by username; the same during all of a run. */
  readonly names: ReadonlyMap<string, string>;
  /** Values of bizStatus that conclude a matter. */
  readonly concluded: ReadonlySet<string>;
  /** IANA zone in which the processes read local date-times. */
  readonly timeZone: string;
  /** When the last fault was undone, by the clock of the history; callers went on after it. */
  readonly faultsEndedAt: number;
  /** Names of what the queue still holds at the end: partitions, partition jobs, locks. */
  readonly leftovers: readonly string[];
}

export interface Violation {
  readonly rule: Rule;
  /** What was seen, and what was due. */
  readonly what: string;
  readonly requestId?: string;
  readonly externalId?: string;
}

/** What a run is held against: each promise has a name, which stands in front of its violations. */
export const PROMISES = {
  acknowledged:
    'A push that was answered with code 0 stands in the log as persisted or replayed, with the outcome and the matter that its caller was told.',
  'answer-agrees':
    'What a caller was told and what the log says became of the push are the same, also where it was rejected; and so do the HTTP status and the code.',
  'wrongly-rejected':
    'A good request is rejected by the state of its matter alone, or where the service is not available; one that does not pass always, as VALIDATION_FAILED.',
  phantom:
    'Every entry of the log and every matter of the ledger goes back to a request that somebody sent.',
  revisions: 'The effects on a matter are its revisions 1, 2, 3, …, none missing and none twice.',
  fold: 'The operations that took effect, applied one by one in the order of their revisions, give the recorded outcomes and the matter that is stored.',
  'real-time':
    'A push that was answered before another one was sent took effect before it, whoever received and applied the two.',
  'queue-order':
    'The pushes on a matter are decided in the order in which the queue took them: the revisions follow `queuedAt`, and a push without an effect stands between the effects queued before and after it.',
  placeable:
    'A push without an effect was told the truth about a state that its matter had between its sending and its answer.',
  'batch-order':
    'The lines of a batch that are about one matter take effect in their order; after one that failed for want of a server the later ones are not applied, and nothing else skips a line.',
  'batch-answer':
    'A batch is answered line by line, in their order; its status, code and counts are those of its lines, and the entry of each says which line of which batch it was.',
  'one-effect':
    'All tries of a push with an idempotency key take effect once; the others repeat it.',
  'one-matter-id': 'A key has one matter id for ever.',
  'late-effect': 'No push that a worker took up after its deadline takes effect.',
  'answered-in-time': 'Every request ends by its deadline plus one second.',
  connection: 'A connection breaks only where its web process itself was killed or restarted.',
  settled: 'Every entry of the log ends settled.',
  recovery:
    'From ten seconds after the last fault on nothing fails, and nobody waits longer than two and a half seconds, but for a server that stands still by itself.',
  leftover: 'No push, partition job or lock is left behind.',
  served:
    'At least half of the operations that pass were accepted, or rejected by the state of their matter: else the run has seen too little.',
  measurable:
    'The harness itself stood still for at most a tenth of the run: else what it saw of times is its own.',
} as const;

export type Rule = keyof typeof PROMISES;
