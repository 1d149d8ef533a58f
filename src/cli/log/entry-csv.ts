/** Log entries as the rows of a CSV file. */
import type { OperatorEntryView } from '../../portal/entry-view';
import { printable } from '../print';
import { csvRecord } from './csv';

/** All of them, in this order; the type keeps the list complete. */
const COLUMNS: Readonly<Record<keyof OperatorEntryView, true>> = {
  requestId: true,
  receivedAt: true,
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
  origin: true,
  replayOf: true,
  mark: true,
  worker: true,
  operator: true,
  secretId: true,
  bodyHash: true,
  bodySize: true,
  traceId: true,
};
const NAMES = Object.keys(COLUMNS) as (keyof OperatorEntryView)[];

export const csvHeader = () => csvRecord(NAMES);

/** Lists and objects are JSON texts; what is absent or empty is an empty cell. */
export const csvRow = (view: OperatorEntryView) =>
  csvRecord(NAMES.map((name) => printable(toText(view[name]))));

function toText(value: OperatorEntryView[keyof OperatorEntryView]): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
