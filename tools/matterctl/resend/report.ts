/** Prints the result of a resend or its dry run: a line for each push, and a summary. */

import { SKIPPED, type Skipped, type SkippedPush } from '../../../src/pushes/resend';
import { shortChanges } from '../log/entry-text';
import { printJson, printLine } from '../print';
import type { ProgressState } from '../progress';
import type { Tool } from '../tool';
import type { Preview } from './preview';
import type { Resent } from './run-resend';

export interface ResendSummary {
  readonly applied: boolean;
  /** Number of pushes that were sent or, in a dry run, would be sent. */
  readonly pushes: number;
  readonly matters: number;
  /** Number of pushes by outcome or reason. */
  readonly results: Readonly<Record<string, number>>;
  readonly rejected: number;
  /** In a dry run: number of pushes that would change a matter. */
  readonly changing: number;
  /** Number of pushes that are not sent, by reason. */
  readonly skipped: Readonly<Partial<Record<Skipped, number>>>;
  /** Whether there were more entries than --limit. */
  readonly cut: boolean;
}

interface ReportOptions {
  readonly json?: boolean;
  readonly apply?: boolean;
  readonly timeZone: string;
}

/** Maximum lines for people. With --json there is a line for each push. */
const MAX_LINES = 50;

export class ResendReport {
  readonly #stdout: Tool['stdout'];
  readonly #options: ReportOptions;
  readonly #results = new Map<string, number>();
  readonly #skipped = new Map<Skipped, number>();
  readonly #matters = new Set<string>();
  readonly #sums = { pushes: 0, rejected: 0, changing: 0 };
  #isCut = false;
  #lines = 0;

  constructor({ stdout }: Pick<Tool, 'stdout'>, options: ReportOptions) {
    this.#stdout = stdout;
    this.#options = options;
  }

  async previewed(push: Preview): Promise<void> {
    this.#count(push);
    if (push.changes.length > 0) this.#sums.changing += 1;
    const changes = shortChanges(push.changes, this.#options.timeZone) || 'nothing changes';
    await this.#print(push, `${push.requestId}  ${nameOf(push)}  ${push.result}: ${changes}`);
  }

  async sent(push: Resent): Promise<void> {
    this.#count(push);
    const again = push.requestId ?? 'not sent';
    await this.#print(push, `${push.resentFrom} -> ${again}  ${nameOf(push)}  ${push.result}`);
  }

  async skipped({ entry, why }: SkippedPush): Promise<void> {
    this.#skipped.set(why, (this.#skipped.get(why) ?? 0) + 1);
    if (!this.#options.json) return;
    await printJson(this.#stdout, { requestId: String(entry._id), skipped: why });
  }

  /** Call it if there are more entries than --limit. */
  cutOff(): void {
    this.#isCut = true;
  }

  progress(): ProgressState {
    return { done: this.#sums.pushes, note: `${this.#sums.rejected} rejected` };
  }

  summary(): ResendSummary {
    return {
      applied: this.#options.apply ?? false,
      ...this.#sums,
      matters: this.#matters.size,
      results: Object.fromEntries(this.#results),
      skipped: Object.fromEntries(this.#skipped),
      cut: this.#isCut,
    };
  }

  /** The summary as lines of text. */
  describe(): string[] {
    return describe(this.summary(), this.#lines, this.#options.timeZone);
  }

  #count({ result, accepted, systemCode, externalId }: Preview | Resent): void {
    this.#sums.pushes += 1;
    if (!accepted) this.#sums.rejected += 1;
    this.#results.set(result, (this.#results.get(result) ?? 0) + 1);
    this.#matters.add(`${systemCode}/${externalId}`);
  }

  async #print(value: unknown, line: string): Promise<void> {
    this.#lines += 1;
    if (this.#options.json) await printJson(this.#stdout, value);
    else if (this.#lines <= MAX_LINES) await printLine(this.#stdout, line);
  }
}

const nameOf = ({ operation, systemCode, externalId }: Preview | Resent) =>
  `${operation} ${systemCode}/${externalId ?? '-'}`;

function describe(summary: ResendSummary, lines: number, timeZone: string): string[] {
  const { applied, pushes, matters, results, changing, skipped, cut } = summary;
  const byResult = Object.entries(results).map(([result, n]) => `  ${result}: ${n}`);
  const left = Object.entries(skipped).map(
    ([why, n]) => `  left out ${n}: ${SKIPPED[why as Skipped]}`,
  );
  const head = applied
    ? `Sent ${pushes} pushes of ${matters} matters again:`
    : `${pushes} pushes of ${matters} matters would be sent again, ${changing} would change something (times in ${timeZone}):`;
  return [
    ...(lines > MAX_LINES ? [`… and ${lines - MAX_LINES} more (--json lists all)`] : []),
    head,
    ...byResult,
    ...left,
    ...(cut ? ['There are more entries: raise --limit.'] : []),
    ...(applied ? [] : ['Nothing was sent: this was a dry run; --apply sends them.']),
  ];
}
