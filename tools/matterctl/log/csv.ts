/** Formats log entries as a CSV file that spreadsheets open. */
import { csvRecord } from '../../../src/files/csv';
import {
  entryView,
  type OperatorEntryView,
  operatorEntryView,
} from '../../../src/protocol/log-entry';
import { printable } from '../print';
import type { ShownEntry } from '../source/sources';

type FieldName = keyof OperatorEntryView;

/** The first columns, in this order. Other fields, also future ones, follow, so that no column ever moves. */
const FIRST: readonly FieldName[] = [
  ...(['requestId', 'receivedAt', 'deadlineAt', 'clientId', 'systemCode', 'operation'] as const),
  ...(['externalId', 'idempotencyKey', 'attempt', 'state', 'outcome', 'reason'] as const),
  ...(['problems', 'warnings', 'stale', 'matterId', 'revision', 'changes'] as const),
  ...(['queuedAt', 'startedAt', 'settledAt', 'duplicateOf', 'resentFrom', 'mark'] as const),
  ...(['worker', 'operator', 'secretId', 'bodyHash', 'bodySize', 'traceId'] as const),
];

function columnsOf({ shape }: { readonly shape: object }): readonly FieldName[] {
  const shown = Object.keys(shape) as FieldName[];
  const first = FIRST.filter((name) => shown.includes(name));
  return [...first, ...shown.filter((name) => !FIRST.includes(name))];
}

/** @param ofOperators whether the rows have the fields that only operators see */
export function csvOf(ofOperators: boolean) {
  const names = columnsOf(ofOperators ? operatorEntryView : entryView);
  return {
    header: () => csvRecord(names),
    /** Lists and objects become JSON texts. An absent value and an empty list become an empty cell. */
    row: (view: ShownEntry) => csvRecord(names.map((name) => printable(toText(view[name])))),
  };
}

function toText(value: ShownEntry[keyof ShownEntry]): string {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0))
    return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
