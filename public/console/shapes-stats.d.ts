/** What the statistics of pushes answer, as far as the console reads it (docs/openapi.json). */

export interface StatsRow {
  readonly start: string;
  readonly operation: string;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly pushes: number;
}

export interface Stats {
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly by: 'minute' | 'hour' | 'day';
  readonly complete: boolean;
  readonly total: { readonly pushes: number; readonly succeeded: number; readonly failed: number };
  readonly rows: readonly StatsRow[];
}
