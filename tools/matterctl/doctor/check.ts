/** What the doctor looks at, in its order, and what it finds. */

export const CHECKS = [
  'reachable',
  'clock',
  'headers',
  'secret',
  'client',
  'body',
  'round trip',
] as const;
export type CheckName = (typeof CHECKS)[number];

export interface Check {
  readonly check: CheckName;
  readonly status: 'ok' | 'failed' | 'skipped';
  readonly detail: string;
  /** Where it failed. */
  readonly fix?: string;
}

export const passed = (check: CheckName, detail: string): Check => ({
  ...{ check, status: 'ok', detail },
});
export const failed = (check: CheckName, detail: string, fix: string): Check => ({
  ...{ check, status: 'failed', detail, fix },
});
export const skipped = (check: CheckName): Check => ({
  ...{ check, status: 'skipped', detail: 'not tried: mend what failed first' },
});
