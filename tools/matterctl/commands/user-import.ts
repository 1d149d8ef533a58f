import { basename } from 'node:path';
import type { Command } from 'commander';
import { USER_COLUMNS } from '../../../src/files/columns';
import { encodingName } from '../../../src/files/encodings';
import type { ImportPlan, NewUser } from '../../../src/storage/directory';
import { type ColumnOptions, withColumns } from '../column-options';
import { CommandFailure } from '../failure';
import { withOperator } from '../option-values';
import { note, printJson, printLine, printLines } from '../print';
import { encodingMessage, openTextFile, withEncoding } from '../text-file';
import type { Tool } from '../tool';
import { withMongo } from '../with-mongo';
import { type ChangeOptions, withTrail } from '../with-trail';

interface Options extends ChangeOptions, ColumnOptions {
  readonly encoding?: string;
  readonly disableMissing?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

const ABOUT = `
With --disable-missing, the file is the complete list: the command disables all users that the file does not name.
It deletes no users. It first shows how many users it would disable. If these are more than a tenth of the enabled
users, the command needs --yes. With --dry-run, it only shows the numbers.`;

/** `user import` imports all lines of a file, or none if one is invalid. */
export function addUserImport(parent: Command, tool: Tool): void {
  const command = parent
    .command('import')
    .description(
      'create or rename portal users from a CSV file; if a line is bad, no user is imported',
    )
    .argument('<file.csv>', 'with the columns username and displayName')
    .option('--disable-missing', 'disable the users that the file does not name')
    .option('--dry-run', 'only show what would be changed')
    .option('--yes', 'disable more than a tenth of the enabled users, too')
    .addHelpText('after', ABOUT);
  withOperator(withColumns(withEncoding(command), USER_COLUMNS)).action(
    (file: string, options: Options) => importFile(file, options, tool),
  );
}

async function importFile(file: string, options: Options, tool: Tool): Promise<void> {
  const { users, encoding } = await readUsers(file, options, tool);
  const { disableMissing = false, dryRun = false } = options;
  const { planImport } = await import('../../../src/storage/directory.js');
  const plan =
    disableMissing || dryRun
      ? await withMongo(tool, options, (connection) => planImport(connection, users))
      : undefined;
  if (plan && !options.json) await printLines(tool.stdout, describe(plan, disableMissing));
  const missing = disableMissing ? (plan?.missing ?? []) : [];
  if (dryRun && plan) {
    if (options.json) await printJson(tool.stdout, { dryRun, ...plan, encoding });
    else await printLine(tool.stdout, 'Nothing was changed: this was a dry run.');
    return;
  }
  if (plan) checkMissing(plan, missing, options);
  const { created, updated, disabled } = await importAll({ file, users, missing }, options, tool);
  if (options.json) {
    const counts = disableMissing && { disabled };
    await printJson(tool.stdout, { created, updated, ...counts, encoding });
  } else {
    const also = disableMissing ? `, ${disabled} others disabled` : '';
    await printLine(
      tool.stdout,
      `${users.length} users imported (${encoding}): ${created} new, ${updated} there already${also}; first: ${firstNames(users)}`,
    );
  }
}

/** @throws CommandFailure if a line is invalid */
async function readUsers(file: string, { encoding, column }: Options, tool: Tool) {
  const { readUsersCsv } = await import('../users-csv.js');
  const text = await openTextFile(file, encoding);
  if (text.problem) {
    throw new CommandFailure(`nothing was imported: ${encodingMessage(file, text.problem)}`);
  }
  const { users, problems } = await readUsersCsv(text.pieces(), column);
  for (const { line, message } of problems) note(tool.stderr, `${file}:${line}: ${message}`);
  if (problems.length > 0) {
    const lines = problems.length === 1 ? 'the line' : `the ${problems.length} problems`;
    throw new CommandFailure(
      `nothing was imported: correct ${lines} above and run the command again`,
    );
  }
  return { users, encoding: encodingName(text.encoding) };
}

/** @throws CommandFailure if so many users would be disabled that the file is probably incomplete */
function checkMissing(
  { created, updated, enabled }: ImportPlan,
  missing: readonly string[],
  { yes }: Options,
): void {
  if (missing.length > 0 && created + updated === 0) {
    throw new CommandFailure(
      'nothing was changed: the file names no user, so that all of them would be disabled',
    );
  }
  if (yes || missing.length * 10 <= enabled) return;
  throw new CommandFailure(
    `nothing was changed: ${missing.length} of ${enabled} enabled users would be disabled; if the file is complete, give --yes`,
  );
}

interface Importing {
  readonly file: string;
  readonly users: readonly NewUser[];
  readonly missing: readonly string[];
}

async function importAll({ file, users, missing }: Importing, options: Options, tool: Tool) {
  const details = {
    users: users.length,
    ...(options.disableMissing && { disableMissing: missing.length }),
  };
  const change = { command: 'user import', subject: basename(file), details };
  const { importUsers, setUsersEnabled } = await import('../../../src/storage/directory.js');
  return withTrail(tool, options, change, async (connection, recordResult) => {
    const imported = await importUsers(connection, users);
    const disabled = await setUsersEnabled(connection, missing, false);
    recordResult({ ...imported, ...(options.disableMissing && { disabled }) });
    return { ...imported, disabled };
  });
}

/** Number of users that the preview lists, so that the operator notices a wrong encoding or a wrong file. */
const SHOWN = 3;

function describe(plan: ImportPlan, disableMissing: boolean): string[] {
  const { created, updated, enabledAgain, enabled, missing } = plan;
  const rows = [
    `${created} users are new, ${updated} are there already (${enabledAgain} of them disabled, to be enabled)`,
  ];
  if (disableMissing) {
    const shown = missing.slice(0, SHOWN).join(', ');
    const ellipsis = missing.length > SHOWN ? ', …' : '';
    const names = missing.length === 0 ? '' : `: ${shown}${ellipsis}`;
    rows.push(
      `${missing.length} of ${enabled} enabled users are not in the file, to be disabled${names}`,
    );
  }
  return rows;
}

function firstNames(users: readonly NewUser[]): string {
  const names = users.slice(0, SHOWN).map((user) => `${user.username} ${user.displayName}`);
  return names.join(', ') || 'none';
}
