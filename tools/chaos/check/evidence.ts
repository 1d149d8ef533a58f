/** What a checker is given of a run, and what it finds. */
import type { Matter } from '../../../src/domain/matter';
import type { LogEntry } from '../../../src/storage/push-log/entry-model';
import type { History } from '../history';
import type { Rule } from './rules';

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
