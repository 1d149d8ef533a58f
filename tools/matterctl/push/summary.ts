/** The end of a run, for people and for programs. */
import type { PushResult } from './run-push';
import type { Counts } from './tally';

export interface Summary extends Counts {
  readonly ok: number;
  /** Lines that earlier runs had done. */
  readonly resumed: number;
  /** Of this run. */
  readonly elapsedMs: number;
  /** Lines per second of this run. */
  readonly rate: number;
  readonly finished: boolean;
  /** Where the failed lines are; null: none failed. */
  readonly failuresFile: string | null;
}

export function summarize(result: PushResult, failuresPath: string): Summary {
  const { counts, resumed, elapsed, stopped } = result;
  const rate = ((counts.lines - resumed) * 1_000) / Math.max(elapsed, 1);
  return {
    ...counts,
    ok: counts.lines - counts.failed,
    resumed,
    elapsedMs: elapsed,
    rate: Math.round(rate * 10) / 10,
    finished: stopped === undefined,
    failuresFile: counts.failed > 0 ? failuresPath : null,
  };
}

/** Several lines of text. */
export function describe(summary: Summary): string {
  const { lines, resumed, elapsedMs, rate, failed, retries, replayed, afterFailure } = summary;
  const { warned, warnings } = summary;
  const before = resumed > 0 ? `, ${resumed} of them before` : '';
  const rows = [
    `${lines} lines${before}, in ${(elapsedMs / 1_000).toFixed(1)} s (${Math.round(rate)}/s)`,
    ...Object.entries(summary.outcomes).map(([name, count]) => row(name, count)),
    row('failed', failed),
    ...Object.entries(summary.failures).map(([reason, count]) => row(`  ${reason}`, count)),
    row('retries', retries),
    ...Object.entries(summary.retryReasons).map(([reason, count]) => row(`  ${reason}`, count)),
    row('replayed', replayed),
  ];
  if (warned > 0) {
    rows.push(row('accepted with warnings', warned));
    for (const [name, count] of Object.entries(warnings)) rows.push(row(`  ${name}`, count));
  }
  if (afterFailure > 0) rows.push(row('sent after a failed line of their key', afterFailure));
  return rows.join('\n');
}

const row = (name: string, count: number) => `  ${name.padEnd(24)} ${String(count).padStart(9)}`;
