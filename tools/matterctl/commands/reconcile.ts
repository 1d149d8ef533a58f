import { stat } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { MATTER_COLUMNS } from '../../../src/files/columns';
import { type ColumnOptions, withColumns } from '../column-options';
import { CommandFailure, EXIT_FAILED, usageFailure } from '../failure';
import { wholeNumber } from '../option-values';
import { note, printJson, printLines } from '../print';
import { describeSummary, isEqual, notComparable, type Summary } from '../reconcile/report';
import type { Source } from '../reconcile/source';
import { type SourceOptions, withSource } from '../source/options';
import { withServiceRules } from '../source/with-sources';
import { withEncoding } from '../text-file';
import type { Tool } from '../tool';

interface Options extends SourceOptions, ColumnOptions {
  readonly systemCode?: string;
  readonly repush?: string;
  readonly orphans?: boolean;
  readonly overwriteNewer?: boolean;
  /** Type for matters that are not in the ledger and whose line states no type. */
  readonly default?: string;
  readonly encoding?: string;
  /** Maximum rows of the table. */
  readonly limit: number;
}

const ABOUT = `
The file is one of
  a CSV file with a column externalId and any of bizStatus, externalStatusCode, sourceUpdatedAt, deleted
    (true or false), assignee (logins), and the fields of an upsert. Columns have these names in any case, or
    common Chinese headings; --column title=主题 maps another name. Empty cells are not compared.
    Separators are comma, semicolon or tab. Times may have the form of a spreadsheet: 2026/11/25 9:20.
  an NDJSON file of the same fields, one object a line
  the file that "matterctl push" sent. The command expects that it contains all pushes of its matters, folds
    them like the service, and compares every field.
Files are UTF-8, UTF-16 with a byte order mark, or GBK; --encoding names another encoding.

Differences: MISSING (not in the ledger), DELETED (deleted only in the ledger), NOT_DELETED (deleted only in the
file), STALE_HERE and NEWER_HERE (sourceUpdatedAt), STATUS_DIFFERS (bizStatus or externalStatusCode),
CONTENT_DIFFERS (other fields of the file), ORPHAN (open in the ledger, not in the file; with --orphans),
DAMAGED_ID (a spreadsheet has changed the id), LOOK_ALIKE (in the ledger under an id that looks the same).

To resolve the differences, push the re-push file with "matterctl push". Each run replaces this file; without
differences there is none. Matters that are newer in the ledger are not pushed without --overwrite-newer.
Orphans are only listed, without ids that the service assigned. Missing matters need a title and a matterType, in
the file or with --default matterType=TODO.

Unreadable lines are named and skipped. The command also names lines of the re-push file that the service would
reject because of their form or their users.

Exit code: 0 no differences; 1 differences, or skipped lines, or the command failed; 2 wrong usage, or more than a
tenth of the file is unreadable, so that it is not comparable.`;

/** `reconcile` compares a file of the source system with the ledger. */
export function addReconcile(parent: Command, tool: Tool): void {
  const command = parent
    .command('reconcile')
    .description(
      'compare a file of the business system with the ledger, and write the pushes that resolve the differences',
    )
    .argument('<file>', 'CSV, NDJSON, or a file that was pushed')
    .option(
      '--system-code <code>',
      'the system that the matters of the file belong to (with --secret-file: that of the client)',
    )
    .option('--repush <file>', 'where lines to push go (default: <file>.repush.ndjson)')
    .option('--orphans', 'the file is complete: list open matters that it does not contain')
    .option('--overwrite-newer', 'also push matters that are newer in the ledger')
    .option(
      '--default <matterType=type>',
      'the type of matters that are missing here, where the file does not say it',
      toDefaultType,
    )
    .option('--limit <n>', 'maximum rows of the table', wholeNumber(0, 1_000_000), 200)
    .addHelpText('after', ABOUT);
  withSource(withEncoding(withColumns(command, MATTER_COLUMNS))).action(
    (file: string, options: Options) => reconcileFile(file, options, tool),
  );
}

function toDefaultType(text: string): string {
  const [, type] = /^matterType=(TODO|NOTICE|ALERT|REMIND)$/.exec(text) ?? [];
  if (type !== undefined) return type;
  throw new InvalidArgumentError('It must be matterType=TODO, NOTICE, ALERT or REMIND.');
}

async function reconcileFile(file: string, options: Options, baseTool: Tool): Promise<void> {
  const startedAt = Date.now();
  const { systemCode, secretFile } = options;
  if (systemCode === undefined && secretFile === undefined) {
    throw usageFailure('give --system-code, or ask as a client with --secret-file');
  }
  const repushPath = options.repush ?? `${file}.repush.ndjson`;
  await checkFiles(file, repushPath);
  const tool = await withServiceRules(options, baseTool);
  const { openSource } = await import('../reconcile/open-source.js');
  const { encoding, column: columns } = options;
  const source = await openSource(file, { systemCode, encoding, columns }, tool);
  printComparedFields(source, tool);
  const { orphans = false, overwriteNewer = false, default: matterType } = options;
  const job = { ...options, repushPath, orphans, overwriteNewer, matterType, startedAt };
  const { compareFile } = await import('../reconcile/compare-file.js');
  const summary = await compareFile(source, job, tool);
  if (options.json) await printJson(tool.stdout, { summary });
  else await printLines(tool.stdout, describeSummary(summary));
  if (summary.differences.MISSING === summary.compared) {
    const whose =
      systemCode === undefined ? 'this the right client' : `${systemCode} the right system`;
    note(tool.stderr, `None of the matters is here: is ${whose}?`);
  }
  if (orphans && source.leftOutUnnamed > 0) {
    note(tool.stderr, 'What the lines left out are about may be among the orphans.');
  }
  if ((summary.differences.DAMAGED_ID ?? 0) > 0)
    for (const line of AS_TEXT) note(tool.stderr, line);
  if (!isEqual(summary) || summary.leftOut > 0) throw toFailure(summary);
}

const AS_TEXT = [
  'A spreadsheet takes long numbers and leading zeros for numbers and changes them. Export the column of ids as text:',
  'do not open the export of your system in Excel; or import it there with Data > From Text/CSV and the type Text for that',
  'column (数据 > 从文本/CSV，将该列的数据类型设为“文本”), and save it as CSV again.',
];

/** Prints which fields are compared and what is left out, so that the user knows what "equal" covers. */
function printComparedFields(
  { columns, statedFields, unknownFields, serials = 0 }: Source,
  tool: Tool,
): void {
  const printNote = (line: string) => note(tool.stderr, line);
  const used = columns?.flatMap(({ name, field }) =>
    field === undefined ? [] : [field === name ? name : `${field} (${name})`],
  );
  const compared = used ?? statedFields;
  if (compared) printNote(`Compared: ${compared.join(', ')}`);
  if (unknownFields.length > 0) printNote(`Unknown fields, ignored: ${unknownFields.join(', ')}`);
  if (serials > 0) {
    printNote(
      `${serials} times are numbers of days, as a spreadsheet counts them: they were read as such; format the column as a date and time to be sure`,
    );
  }
}

function toFailure(summary: Summary): CommandFailure {
  const [headline] = notComparable(summary);
  if (headline !== undefined) return usageFailure(headline);
  const { repushFile, leftOut } = summary;
  const next = repushFile === null ? '' : `: push ${repushFile}`;
  const differ = isEqual(summary) ? [] : [`the file and the ledger differ${next}`];
  const lines = leftOut === 1 ? '1 bad line was' : `${leftOut} bad lines were`;
  const bad = leftOut === 0 ? [] : [`${lines} left out: correct them and run the command again`];
  return new CommandFailure([...differ, ...bad].join('; '), EXIT_FAILED);
}

/** @throws CommandFailure if the input cannot be read twice, or if the re-push file would overwrite it */
async function checkFiles(file: string, repushPath: string): Promise<void> {
  const input = file === '-' ? undefined : await stat(file);
  if (!input?.isFile()) {
    throw usageFailure('the input is read twice: it must be a file');
  }
  const { partOf } = await import('../reconcile/repush-file.js');
  for (const path of [repushPath, partOf(repushPath)]) {
    const there = await stat(path).catch(() => undefined);
    // Compares the files themselves, not their names, because one file may have several names.
    if (there?.ino === input.ino && there.dev === input.dev) {
      throw usageFailure('input and re-push must be two files');
    }
  }
}
