/** The answer of the push statistics, with the fields that the console reads (docs/openapi.json). */

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
