import type { Command } from 'commander';
import { withDatabase } from '../option-values';
import { printJson } from '../print';
import type { Tool } from '../tool';
import { type DatabaseOptions, withMongo } from '../with-mongo';

interface Options extends DatabaseOptions {
  readonly systemCode?: string;
}

/** `matter export` prints matters as NDJSON. Their number is not limited. */
export function addMatterExport(parent: Command, tool: Tool): void {
  const command = parent
    .command('export')
    .description('print all matters, deleted ones too, as NDJSON in the order of their ids')
    .option('--system-code <code>', 'only those of one system');
  withDatabase(command).action((options: Options) => exportMatters(options, tool));
}

async function exportMatters(options: Options, tool: Tool): Promise<void> {
  const timeZone = tool.settings.timeZone();
  const { toMatterView } = await import('../../../src/queries/presenters/matter.js');
  const { createMatterReader } = await import('../../../src/storage/ledger.js');
  await withMongo(tool, options, async (connection) => {
    for await (const matter of createMatterReader(connection).all(options.systemCode)) {
      await printJson(tool.stdout, toMatterView(matter, timeZone));
    }
  });
}
