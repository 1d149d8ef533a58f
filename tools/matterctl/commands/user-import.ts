import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { CommandFailure } from '../failure';
import { withOperator } from '../option-values';
import { printJson, printLine } from '../print';
import type { Tool } from '../tool';
import { type ChangeOptions, withTrail } from '../with-trail';

/** `user import`: all lines of a file, or none of them. */
export function addUserImport(parent: Command, tool: Tool): void {
  const command = parent
    .command('import')
    .description('create or rename portal users from a CSV file; one bad line and none is imported')
    .argument('<file.csv>', 'with the columns username and displayName; UTF-8 or GBK');
  withOperator(command).action((file: string, options: ChangeOptions) =>
    importFile(file, options, tool),
  );
}

async function importFile(file: string, options: ChangeOptions, tool: Tool): Promise<void> {
  const { readUsersCsv } = await import('../users-csv.js');
  const { users, problems, encoding } = readUsersCsv(await readFile(file));
  for (const { line, message } of problems) tool.stderr.write(`${file}:${line}: ${message}\n`);
  if (problems.length > 0) {
    const lines = problems.length === 1 ? 'the line' : `the ${problems.length} problems`;
    throw new CommandFailure(`nothing was imported: mend ${lines} above and run it again`);
  }
  const details = { users: users.length };
  const change = { command: 'user import', subject: basename(file), details };
  const { importUsers } = await import('../../../src/storage/directory/user-admin.js');
  const counts = await withTrail(tool, options, change, async (connection, tell) => {
    const imported = await importUsers(connection, users);
    tell(imported);
    return imported;
  });
  if (options.json) await printJson(tool.stdout, { ...counts, encoding });
  else {
    const { created, updated } = counts;
    await printLine(
      tool.stdout,
      `${users.length} users imported (${encoding}): ${created} new, ${updated} there already`,
    );
  }
}
