import type { Command } from 'commander';
import { wholeNumber, withJson } from '../option-values';
import { note, printJson, printTable } from '../print';
import { GROUP_HEAD, groupRow, printCut } from '../queue-cells';
import type { Tool } from '../tool';

interface Options {
  readonly json?: boolean;
  readonly limit: number;
}

/** `queue oldest` prints the matters whose pushes wait longest. */
export function addQueueOldest(parent: Command, tool: Tool): void {
  const command = parent
    .command('oldest')
    .description('the keys with waiting pushes, the longest waiting first')
    .option('--limit <n>', 'most keys', wholeNumber(1, 10_000), 20);
  withJson(command).action(async ({ json, limit }: Options) => {
    const { withQueueView } = await import('../queue-view.js');
    const { groups, cutPartitions } = await withQueueView(tool, (view) => view.pushes());
    const shown = groups.slice(0, limit);
    if (json) await printJson(tool.stdout, { keys: groups.length, oldest: shown, cutPartitions });
    else if (shown.length > 0) await printTable(tool.stdout, GROUP_HEAD, shown.map(groupRow));
    else note(tool.stderr, 'Nothing waits.');
    if (groups.length > limit) {
      note(tool.stderr, `${groups.length} keys have waiting pushes: --limit shows more.`);
    }
    printCut(tool, cutPartitions);
  });
}
