/** What was measured, as numbers and as a table. */
import Table from 'cli-table3';

export interface Percentiles {
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

export interface Measured {
  readonly name: string;
  readonly small: Percentiles;
  readonly large: Percentiles;
  /** Rows of an answer, on average, at each size. */
  readonly rows: readonly number[];
}

/** @param times milliseconds */
export function summarize(times: readonly number[]): Percentiles {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)];
  return { p50: at(0.5) ?? 0, p99: at(0.99) ?? 0 };
}

/** @returns the table, and how many rows grew by more than the goal */
export function growthTable(
  measured: readonly Measured[],
  { goal, noise }: { readonly goal: number; readonly noise: number },
): { text: string; grown: number } {
  const head = [
    'query',
    'rows',
    'p50 ms',
    'p99 ms',
    'p50 large',
    'p99 large',
    'p50 x',
    'p99 x',
    'goal',
  ];
  const table = new Table({ head, style: { head: [], border: [] } });
  let grown = 0;
  for (const { name, small, large, rows } of measured) {
    const growth = [growthOf(small.p50, large.p50, noise), growthOf(small.p99, large.p99, noise)];
    const passes = growth.every((factor) => factor < goal);
    if (!passes) grown += 1;
    table.push([
      name,
      rows.map((count) => Math.round(count)).join(' / '),
      ...[small.p50, small.p99, large.p50, large.p99].map((ms) => ms.toFixed(1)),
      ...growth.map((factor) => factor.toFixed(2)),
      passes ? `< ${goal}: pass` : `< ${goal}: FAIL`,
    ]);
  }
  return { text: table.toString(), grown };
}

const growthOf = (small: number, large: number, noise: number) => large / Math.max(small, noise);
