import { type Command, Option } from 'commander';
import {
  entryView,
  type OperatorEntryView,
  operatorEntryView,
} from '../../../src/protocol/log-entry';
import { CommandFailure, EXIT_USAGE } from '../failure';
import { type FilterOptions, toLogFilter, withLogFilters } from '../log/filter-options';
import { printable, printJson, printLine } from '../print';
import { showProgress } from '../progress';
import { type SourceOptions, withSource } from '../source/options';
import type { ShownEntry } from '../source/sources';
import { withSources } from '../source/with-sources';
import type { Tool } from '../tool';

interface Options extends SourceOptions, FilterOptions {
  readonly format?: 'ndjson' | 'csv';
  readonly oldestFirst?: boolean;
  readonly bom?: boolean;
}

const ABOUT = `
In CSV, problems, changes and stale are JSON texts. A cell that a spreadsheet would take for a formula
begins with a single quote; programs that need the exact texts read NDJSON.`;
const BYTE_ORDER_MARK = '\ufeff';

/** `log export`: every push that a filter asks for, as fast as its reader takes them. */
export function addLogExport(parent: Command, tool: Tool): void {
  const command = withLogFilters(
    parent.command('export').description('print all pushes, the newest first'),
    tool,
  )
    .addOption(
      new Option('--format <format>', 'of the output (default: ndjson)').choices(['ndjson', 'csv']),
    )
    .option('--oldest-first', 'the oldest first')
    .option('--bom', 'begin a CSV with a byte order mark, for spreadsheets')
    .addHelpText('after', ABOUT);
  withSource(command).action((options: Options) => exportLog(options, tool));
}

async function exportLog(options: Options, tool: Tool): Promise<void> {
  const { stdout, stderr } = tool;
  const { bom, json, oldestFirst = false, format = 'ndjson' } = options;
  const isCsv = format === 'csv';
  if (isCsv && json) throw new CommandFailure('--json is not --format csv', EXIT_USAGE);
  if (bom && !isCsv) throw new CommandFailure('--bom is for --format csv', EXIT_USAGE);
  const filter = toLogFilter(options);
  let done = 0;
  await withSources(tool, options, async ({ log }) => {
    const state = () => ({ done, note: '' });
    const hide = showProgress({ stderr, total: undefined, things: 'pushes', state });
    try {
      const csv = csvOf(log.ofOperators);
      if (isCsv) await printLine(stdout, `${bom ? BYTE_ORDER_MARK : ''}${csv.header()}\r`);
      const printRow = (view: ShownEntry) => printLine(stdout, `${csv.row(view)}\r`);
      const print = isCsv ? printRow : (view: ShownEntry) => printJson(stdout, view);
      for await (const view of log.numbered(log.all(filter, { oldestFirst }))) {
        await print(view);
        done += 1;
      }
    } finally {
      hide();
    }
  });
}

type FieldName = keyof OperatorEntryView;

/** Columns stay where they are: what is not named here, a later field too, comes behind them. */
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

/** Log entries as the rows of a CSV file. @param ofOperators whether the rows have what only operators are told */
export function csvOf(ofOperators: boolean) {
  const names = columnsOf(ofOperators ? operatorEntryView : entryView);
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

/** What is quoted in a cell, by RFC 4180. */
const QUOTED = /[",\r\n]|^\s|\s$/;
/** What spreadsheets take for the beginning of a formula, the full-width forms too. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/;

/** One record without its end. */
export const csvRecord = (cells: readonly string[]) => cells.map(csvCell).join(',');

/** A text of somebody else's must not become a formula: it is shown as a text, after a quote. */
export function csvCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
