/** Counts the results of lines, by outcome and by reason of failure. */
import type { Warning } from '../../../src/protocol/warnings';
import type { PushResult } from '../../client/matter-push-client';

/** The counts of a run. They are JSON values, because a checkpoint contains them. */
export interface RunCounts {
  /** Lines with a result. Blank lines are not counted. */
  readonly lines: number;
  readonly failed: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  readonly retries: number;
  /** Retries by the reason of the rejection before. */
  readonly retryReasons: Readonly<Record<string, number>>;
  /** Answers that repeated the result of an earlier push. */
  readonly replayed: number;
  /** Lines that were sent although an earlier line of their matter had failed. */
  readonly afterFailure: number;
  /** Lines that were accepted with warnings. */
  readonly warned: number;
  /** Lines by warning. The name of a warning has its kind, its field, and the field that was probably meant. */
  readonly warnings: Readonly<Record<string, number>>;
}

/** Maximum warnings with a count of their own, because every line of a file may have another unknown field. */
const MAX_WARNINGS = 100;
const OTHERS = 'others';

export class PushTally {
  readonly #outcomes: Map<string, number>;
  readonly #failures: Map<string, number>;
  readonly #warnings: Map<string, number>;
  readonly #retryReasons: Map<string, number>;
  #retries: number;
  #replayed: number;
  #afterFailure: number;
  #warned: number;

  /** @param from the counts of the run to continue */
  constructor(from?: RunCounts) {
    this.#outcomes = new Map(Object.entries(from?.outcomes ?? {}));
    this.#failures = new Map(Object.entries(from?.failures ?? {}));
    this.#warnings = new Map(Object.entries(from?.warnings ?? {}));
    this.#retryReasons = new Map(Object.entries(from?.retryReasons ?? {}));
    this.#retries = from?.retries ?? 0;
    this.#replayed = from?.replayed ?? 0;
    this.#afterFailure = from?.afterFailure ?? 0;
    this.#warned = from?.warned ?? 0;
  }

  accepted({ outcome, replayed, warnings }: Accepted): void {
    count(this.#outcomes, outcome);
    if (replayed) this.#replayed += 1;
    const names = new Set(warnings?.map(nameOf));
    if (names.size > 0) this.#warned += 1;
    for (const name of names) {
      const isNew = !this.#warnings.has(name) && this.#warnings.size >= MAX_WARNINGS;
      count(this.#warnings, isNew ? OTHERS : name);
    }
  }

  failed(reason: string): void {
    count(this.#failures, reason);
  }

  /** A line is sent again. @param reason why it was rejected before */
  retried(reason: string): void {
    this.#retries += 1;
    count(this.#retryReasons, reason);
  }

  sentAfterFailure(): void {
    this.#afterFailure += 1;
  }

  counts(): RunCounts {
    const failed = sum(this.#failures);
    return {
      lines: sum(this.#outcomes) + failed,
      failed,
      outcomes: Object.fromEntries(this.#outcomes),
      failures: Object.fromEntries(this.#failures),
      retries: this.#retries,
      retryReasons: Object.fromEntries(this.#retryReasons),
      replayed: this.#replayed,
      afterFailure: this.#afterFailure,
      warned: this.#warned,
      warnings: Object.fromEntries(this.#warnings),
    };
  }
}

type Accepted = Pick<PushResult, 'outcome' | 'replayed' | 'warnings'>;

/** The name of a warning. It has no positions in lists, so it is the same for all parties of a list. */
function nameOf({ kind, field, suggestion }: Warning): string {
  const meant = suggestion === undefined ? '' : ` (${suggestion}?)`;
  return `${kind} ${field.replace(/\[\d+\]/g, '[]')}${meant}`;
}

const count = (counts: Map<string, number>, name: string) =>
  counts.set(name, (counts.get(name) ?? 0) + 1);

const sum = (counts: Map<string, number>) => [...counts.values()].reduce((a, b) => a + b, 0);
