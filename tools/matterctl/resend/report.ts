/** What a resend, or its dry run, tells: a line per push, and a summary. */
import { shortChanges } from '../log/entry-text';
import { printJson, printLine } from '../print';
import type { ProgressState } from '../progress';
import type { Tool } from '../tool';
import type { Preview } from './preview';
import type { Resent } from './run-resend';
import { type Selected, SKIPPED, type Skipped } from './select';

export interface ResendSummary {
  readonly applied: boolean;
  /** Pushes that were, or would be, sent. */
  readonly pushes: number;
  readonly matters: number;
  /** By outcome or reason. */
  readonly results: Readonly<Record<string, number>>;
  readonly rejected: number;
  /** Of the dry run: pushes that would change a matter. */
  readonly changing: number;
  /** By why. */
  readonly skipped: Readonly<Partial<Record<Skipped, number>>>;
  /** There were more entries than --limit. */
  readonly cut: boolean;
}

export interface ResendReport {
  previewed(push: Preview): Promise<void>;
  sent(push: Resent): Promise<void>;
  skipped(one: Extract<Selected, { kind: 'skipped' }>): Promise<void>;
  readonly cutAt: () => void;
  progress(): ProgressState;
  summary(): ResendSummary;
  describe(): string;
}

interface ReportOptions {
  readonly json?: boolean;
  readonly apply?: boolean;
  readonly timeZone: string;
}

/** Lines for people; with --json there is one for each push. */
const MAX_LINES = 50;

export function createResendReport(tool: Tool, options: ReportOptions): ResendReport {
  const { json = false, apply = false, timeZone } = options;
  const results = new Map<string, number>();
  const skipped = new Map<Skipped, number>();
  const matters = new Set<string>();
  const sums = { pushes: 0, rejected: 0, changing: 0 };
  let cut = false;
  let lines = 0;

  const tell = async (value: unknown, line: string) => {
    lines += 1;
    if (json) await printJson(tool.stdout, value);
    else if (lines <= MAX_LINES) await printLine(tool.stdout, line);
  };
  const count = (push: Preview | Resent, isRejected: boolean) => {
    sums.pushes += 1;
    if (isRejected) sums.rejected += 1;
    results.set(push.result, (results.get(push.result) ?? 0) + 1);
    matters.add(`${push.systemCode}/${push.externalId}`);
  };
  const nameOf = ({ operation, systemCode, externalId }: Preview | Resent) =>
    `${operation} ${systemCode}/${externalId ?? '-'}`;

  const summary = (): ResendSummary => ({
    applied: apply,
    ...sums,
    matters: matters.size,
    results: Object.fromEntries(results),
    skipped: Object.fromEntries(skipped),
    cut,
  });
  return {
    previewed: async (push) => {
      count(push, !push.accepted);
      if (push.changes.length > 0) sums.changing += 1;
      const changes = shortChanges(push.changes, timeZone) || 'nothing changes';
      await tell(push, `${push.requestId}  ${nameOf(push)}  ${push.result}: ${changes}`);
    },
    sent: async (push) => {
      count(push, !push.accepted);
      const again = push.requestId ?? 'not sent';
      await tell(push, `${push.resentFrom} -> ${again}  ${nameOf(push)}  ${push.result}`);
    },
    skipped: async ({ entry, why }) => {
      skipped.set(why, (skipped.get(why) ?? 0) + 1);
      if (json) await printJson(tool.stdout, { requestId: String(entry._id), skipped: why });
    },
    cutAt: () => {
      cut = true;
    },
    progress: () => ({ done: sums.pushes, note: `${sums.rejected} rejected` }),
    summary,
    describe: () => describe(summary(), lines),
  };
}

function describe(summary: ResendSummary, lines: number): string {
  const { applied, pushes, matters, results, changing, skipped, cut } = summary;
  const byResult = Object.entries(results).map(([result, n]) => `  ${result}: ${n}`);
  const left = Object.entries(skipped).map(
    ([why, n]) => `  left out ${n}: ${SKIPPED[why as Skipped]}`,
  );
  const head = applied
    ? `Sent ${pushes} pushes of ${matters} matters again:`
    : `${pushes} pushes of ${matters} matters would be sent again, ${changing} would change something:`;
  return [
    ...(lines > MAX_LINES ? [`… and ${lines - MAX_LINES} more (--json lists all)`] : []),
    head,
    ...byResult,
    ...left,
    ...(cut ? ['There are more entries: raise --limit.'] : []),
    ...(applied ? [] : ['Nothing was sent: this was a dry run; --apply sends them.']),
  ].join('\n');
}
