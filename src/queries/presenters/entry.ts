/** Converts a push-log entry to the form that answers contain. */
import { renderAll, renderWarnings } from '../../protocol/envelope';
import type { Language } from '../../protocol/language';
import {
  ENTRY_FIELDS,
  type EntryFields,
  type EntryView,
  entryView,
  type OperatorEntryView,
  operatorEntryView,
} from '../../protocol/log-entry';
import type { LogEntry } from '../../storage/push-log';

interface ViewContext {
  readonly attempt: number | undefined;
  readonly language: Language;
}

type PresentedFields = {
  readonly [Name in keyof EntryView as EntryFields[Name]['stored'] extends undefined
    ? Name
    : never]: (entry: LogEntry, context: ViewContext) => EntryView[Name];
};

const PRESENTED: PresentedFields = {
  requestId: ({ _id }) => String(_id),
  attempt: (_entry, { attempt = null }) => attempt,
  state: ({ state }) => state,
  outcome: (entry) => (isAccepted(entry) ? (entry.result ?? null) : null),
  reason: (entry) => (isAccepted(entry) ? null : (entry.result ?? null)),
  problems: ({ problems = [] }, { language }) => renderAll(problems, language),
  warnings: ({ warnings = [] }, { language }) => renderWarnings(warnings, language),
  stale: ({ stale }) =>
    stale ? { sent: stale.sent.toISOString(), stored: stale.stored.toISOString() } : null,
  changes: ({ changes = [] }) => changes,
  mark: ({ mark = null }) => mark,
};

const FOR_CLIENTS = fieldsOf(entryView);
const FOR_OPERATORS = fieldsOf(operatorEntryView);

/** @param attempt number of the attempt, from 1 */
export function toEntryView(
  entry: LogEntry,
  attempt: number | undefined,
  language: Language,
): EntryView {
  return present(entry, FOR_CLIENTS, { attempt, language }) as unknown as EntryView;
}

export function toOperatorEntryView(
  entry: LogEntry,
  attempt: number | undefined,
): OperatorEntryView {
  const context = { attempt, language: 'en' } as const;
  return present(entry, FOR_OPERATORS, context) as unknown as OperatorEntryView;
}

type FieldName = keyof OperatorEntryView;

function fieldsOf({ shape }: { readonly shape: object }): readonly FieldName[] {
  return Object.keys(shape) as FieldName[];
}

function present(entry: LogEntry, fields: readonly FieldName[], context: ViewContext) {
  const shown = fields.map((name) => [
    name,
    isStored(name) ? toJson(entry[name]) : PRESENTED[name](entry, context),
  ]);
  return Object.fromEntries(shown);
}

const isStored = (name: FieldName): name is Exclude<FieldName, keyof PresentedFields> =>
  ENTRY_FIELDS[name].stored !== undefined;

function toJson(value: string | number | Date | bigint | object | null | undefined) {
  // An entry can lack a field, for example an entry that was edited by hand.
  if (value === undefined || value === null) return null;
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'string' || typeof value === 'number' ? value : String(value);
}

const isAccepted = ({ state }: LogEntry) => state === 'PERSISTED' || state === 'REPLAYED';
