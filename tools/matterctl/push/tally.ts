/** What became of the lines: counts per outcome and per reason of failure. */

import type { Warning } from '../../../src/protocol/warnings';
import type { PushResult } from '../../client/matter-push-client';

/** JSON-safe, since it is part of a checkpoint. */
export interface Counts {
  /** Lines that came to their end, blank ones left out. */
  readonly lines: number;
  readonly failed: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  readonly retries: number;
  /** The same by the reason of the rejection before each. */
  readonly retryReasons: Readonly<Record<string, number>>;
  /** Answers that repeated an earlier outcome. */
  readonly replayed: number;
  /** Lines that were sent although an earlier one of their key had failed. */
  readonly afterFailure: number;
  /** Lines that were accepted with warnings. */
  readonly warned: number;
  /** Lines per warning: its kind, its field, and the field that was probably meant. */
  readonly warnings: Readonly<Record<string, number>>;
}

/** Different warnings that are told apart: a file may have as many misspelt fields as it has lines. */
const MAX_WARNINGS = 100;
const OTHERS = 'others';

export interface Tally {
  accepted(result: Pick<PushResult, 'outcome' | 'replayed' | 'warnings'>): void;
  failed(reason: string): void;
  /** A line is sent again. @param reason why it was rejected before */
  retried(reason: string): void;
  sentAfterFailure(): void;
  counts(): Counts;
}

/** @param from the counts of the run that is continued */
export function createTally(from?: Counts): Tally {
  const outcomes = new Map(Object.entries(from?.outcomes ?? {}));
  const failures = new Map(Object.entries(from?.failures ?? {}));
  const warnings = new Map(Object.entries(from?.warnings ?? {}));
  const retryReasons = new Map(Object.entries(from?.retryReasons ?? {}));
  let { retries = 0, replayed = 0, afterFailure = 0, warned = 0 } = from ?? {};
  return {
    accepted: (result) => {
      count(outcomes, result.outcome);
      if (result.replayed) replayed += 1;
      const names = new Set(result.warnings?.map(nameOf));
      if (names.size > 0) warned += 1;
      for (const name of names) {
        const isNew = !warnings.has(name) && warnings.size >= MAX_WARNINGS;
        count(warnings, isNew ? OTHERS : name);
      }
    },
    failed: (reason) => count(failures, reason),
    retried: (reason) => {
      retries += 1;
      count(retryReasons, reason);
    },
    sentAfterFailure: () => {
      afterFailure += 1;
    },
    counts: () => {
      const failed = sum(failures);
      return {
        lines: sum(outcomes) + failed,
        failed,
        outcomes: Object.fromEntries(outcomes),
        failures: Object.fromEntries(failures),
        retries,
        retryReasons: Object.fromEntries(retryReasons),
        replayed,
        afterFailure,
        warned,
        warnings: Object.fromEntries(warnings),
      };
    },
  };
}

/** The same for all parties of a list. */
function nameOf({ kind, field, suggestion }: Warning): string {
  const meant = suggestion === undefined ? '' : ` (${suggestion}?)`;
  return `${kind} ${field.replace(/\[\d+\]/g, '[]')}${meant}`;
}

const count = (counts: Map<string, number>, name: string) =>
  counts.set(name, (counts.get(name) ?? 0) + 1);

const sum = (counts: Map<string, number>) => [...counts.values()].reduce((a, b) => a + b, 0);
