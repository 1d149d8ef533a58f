import type { Command } from 'commander';
import { localTime, timeHead } from '../local-time';
import { matterName, resultText, totalTime } from '../log/entry-text';
import { type FilterOptions, toLogFilter, withLogFilters } from '../log/filter-options';
import { createSearchProgress, firstEntries } from '../log/first-entries';
import { wholeNumber } from '../option-values';
import { type Cell, note, printJson, printTable } from '../print';
import { type SourceOptions, withSource } from '../source/options';
import type { ShownEntry } from '../source/sources';
import { withSources } from '../source/with-sources';
import type { Tool } from '../tool';

interface Options extends SourceOptions, FilterOptions {
  readonly limit: number;
  readonly oldestFirst?: boolean;
}

/** Maximum entries, because a longer table takes long to format. "log export" has no maximum. */
const MAX_ENTRIES = 1_000;
const HEAD = ['REQUEST ID', 'OP', 'MATTER', 'ATTEMPT', 'RESULT', 'MS'];

/** `log query` prints entries that match a filter, as a table or as NDJSON. */
export function addLogQuery(parent: Command, tool: Tool): void {
  const command = withLogFilters(
    parent.command('query').description('list pushes, the newest first'),
    tool,
  )
    .option('--limit <n>', 'most pushes', wholeNumber(1, MAX_ENTRIES), 50)
    .option('--oldest-first', 'the oldest first');
  withSource(command).action((options: Options) => query(options, tool));
}

async function query(options: Options, tool: Tool): Promise<void> {
  const { limit, oldestFirst = false, json } = options;
  const filter = toLogFilter(options);
  const timeZone = tool.settings.timeZone();
  const rows: Cell[][] = [];
  let end: End = { found: 0, hasMore: false, notRecorded: 0 };
  await withSources(tool, options, async ({ log }) => {
    const showProgress = createSearchProgress(tool);
    const entries = firstEntries(log, filter, {
      limit,
      oldestFirst,
      onPage: (reached) => {
        const { found, next, notRecorded = 0 } = reached;
        end = { found, hasMore: next !== undefined, notRecorded };
        showProgress(reached);
      },
    });
    for await (const view of log.numbered(entries)) {
      if (json) await printJson(tool.stdout, view);
      else rows.push(toRow(view, timeZone));
    }
  });
  const head = [timeHead('RECEIVED', timeZone), ...HEAD];
  if (rows.length > 0) await printTable(tool.stdout, head, rows);
  printEnd(tool, options, end);
}

interface End {
  readonly found: number;
  readonly hasMore: boolean;
  /** Number of rejected pushes that match the filter and have no entry. */
  readonly notRecorded: number;
}

function printEnd(
  { stderr }: Tool,
  { limit, json }: Options,
  { found, hasMore, notRecorded }: End,
): void {
  if (hasMore) {
    note(
      stderr,
      `There are more than ${limit}: narrow it, raise --limit (to ${MAX_ENTRIES}), or take "log export" for all.`,
    );
  } else if (found === 0 && !json) note(stderr, 'No such pushes.');
  if (notRecorded === 0) return;
  const pushes =
    notRecorded === 1 ? '1 more push like these has' : `${notRecorded} more pushes like these have`;
  note(stderr, `${pushes} no entry in the log: rejections are recorded at a limited rate.`);
}

function toRow(view: ShownEntry, timeZone: string): Cell[] {
  return [
    localTime(view.receivedAt, timeZone),
    view.requestId,
    view.operation,
    matterName(view),
    view.attempt,
    resultText(view),
    totalTime(view),
  ];
}
