import type { Command } from 'commander';
import type { MatterKey } from '../../../src/storage/ledger/matters';
import { CommandFailure } from '../failure';
import { historyOf } from '../log/history-entries';
import { createHistoryLines, HISTORY_HEAD } from '../log/history-line';
import { shortTime } from '../log/local-time';
import { wholeNumber } from '../option-values';
import { printJson, printLine } from '../print';
import type { MatterSource } from '../source/matter-source';
import { type SourceOptions, withSource } from '../source/options';
import { withSources } from '../source/with-sources';
import type { Tool } from '../tool';

interface Options extends SourceOptions {
  readonly limit?: number;
}

/** `matter history`: every push of a matter in the order of receipt. */
export function addMatterHistory(parent: Command, tool: Tool): void {
  const command = parent
    .command('history')
    .description('list all pushes of a matter, the oldest first, with what each changed')
    .argument('<systemCode>')
    .argument('<externalId>')
    .option('--limit <n>', 'only the newest so many', wholeNumber(1, 10_000));
  withSource(command).action((systemCode: string, externalId: string, options: Options) =>
    history({ systemCode, externalId }, options, tool),
  );
}

async function history(matter: MatterKey, options: Options, tool: Tool): Promise<void> {
  const { stdout, stderr, settings } = tool;
  const timeZone = settings.timeZone();
  const lines = createHistoryLines(timeZone);
  const tell = (note: string) => stderr.write(`${note}\n`);
  let count = 0;
  await withSources(tool, { ...options, ...matter }, async ({ log, matters }) => {
    const entries = historyOf(matter, log, { limit: options.limit, tell });
    for await (const view of log.numbered(entries)) {
      count += 1;
      if (options.json) await printJson(stdout, view);
      else {
        if (count === 1) await printLine(stdout, HISTORY_HEAD);
        await printLine(stdout, lines.add(view));
      }
    }
    if (count === 0) throw await nothingOf(matter, matters, timeZone);
  });
  if (lines.isOutOfOrder()) tell('* took effect before a push above it: REV is the order.');
}

/** Why there is no history. */
async function nothingOf(
  matter: MatterKey,
  matters: MatterSource,
  timeZone: string,
): Promise<CommandFailure> {
  const name = `${matter.systemCode}/${matter.externalId}`;
  const kept = await matters.find(matter);
  if (!kept) return new CommandFailure(`there is no matter ${name}, and no push of it in the log`);
  const changed = shortTime(kept.updatedAt, timeZone);
  return new CommandFailure(
    `no push of ${name} is in the log any more; it changed last ${changed}`,
  );
}
