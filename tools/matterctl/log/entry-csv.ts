/** Log entries as the rows of a CSV file. */
import { printable } from '../print';
import type { ShownEntry } from '../source/log-source';
import { csvRecord } from './csv';

/** All of them, in this order; the type keeps the list complete. */
const COLUMNS: Readonly<Record<keyof ShownEntry, true>> = {
  requestId: true,
  receivedAt: true,
  deadlineAt: true,
  clientId: true,
  systemCode: true,
  operation: true,
  externalId: true,
  idempotencyKey: true,
  attempt: true,
  state: true,
  outcome: true,
  reason: true,
  problems: true,
  warnings: true,
  stale: true,
  matterId: true,
  revision: true,
  changes: true,
  queuedAt: true,
  startedAt: true,
  settledAt: true,
  duplicateOf: true,
  resentFrom: true,
  mark: true,
  worker: true,
  operator: true,
  secretId: true,
  bodyHash: true,
  bodySize: true,
  traceId: true,
};
const NAMES = Object.keys(COLUMNS) as (keyof ShownEntry)[];

/** What only operators are told. */
const OF_OPERATORS: ReadonlySet<keyof ShownEntry> = new Set(['worker', 'operator']);

/** @param ofOperators whether the rows have what only operators are told */
export function csvOf(ofOperators: boolean) {
  const names = NAMES.filter((name) => ofOperators || !OF_OPERATORS.has(name));
  return {
    header: () => csvRecord(names),
    /** Lists and objects are JSON texts; what is absent or empty is an empty cell. */
    row: (view: ShownEntry) => csvRecord(names.map((name) => printable(toText(view[name])))),
  };
}

function toText(value: ShownEntry[keyof ShownEntry]): string {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0))
    return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
