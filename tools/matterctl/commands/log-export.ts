import { type Command, Option } from 'commander';
import { usageFailure } from '../failure';
import { type FilterOptions, toLogFilter, withLogFilters } from '../log/filter-options';
import { printByteOrderMark, printJson, printRecord } from '../print';
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
In CSV, problems, changes and stale are JSON texts. A cell that a spreadsheet would read as a formula begins
with a single quote. Programs that need the exact texts should read NDJSON.`;

/** `log export` prints all entries that match a filter. Their number is not limited. */
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
  if (isCsv && json) throw usageFailure('--json is not --format csv');
  if (bom && !isCsv) throw usageFailure('--bom is for --format csv');
  const filter = toLogFilter(options);
  let done = 0;
  await withSources(tool, options, async ({ log }) => {
    const state = () => ({ done, note: '' });
    const hide = showProgress({ stderr, total: undefined, things: 'pushes', state });
    try {
      const { csvOf } = await import('../log/csv.js');
      const csv = csvOf(log.ofOperators);
      if (bom) await printByteOrderMark(stdout);
      if (isCsv) await printRecord(stdout, csv.header());
      const printRow = (view: ShownEntry) => printRecord(stdout, csv.row(view));
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
