import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { CommandFailure, EXIT_FAILED, EXIT_USAGE } from '../failure';
import { wholeNumber } from '../option-values';
import { escapeUnprintable, printJson, printLine } from '../print';
import { describe, isEqual, type Summary } from '../reconcile/report';
import { type SourceOptions, withSource } from '../source/options';
import { withServiceRules } from '../source/with-sources';
import type { Tool } from '../tool';

interface Options extends SourceOptions {
  readonly systemCode?: string;
  readonly repush?: string;
  readonly orphans?: boolean;
  readonly overwriteNewer?: boolean;
  /** Most rows of the table. */
  readonly limit: number;
}

const ABOUT = `
The file is one of
  a CSV file (UTF-8 or GBK) with the column externalId and any of bizStatus, externalStatusCode,
    sourceUpdatedAt, deleted (true or false), and the fields of an upsert: those are not compared,
    they go into the re-push. An empty cell says nothing.
  an NDJSON file of the same fields, one object a line
  the file that "matterctl push" was given. It is taken for all that was ever pushed of the matters
    in it, folded as the service does it, and compared field by field.

Differences: MISSING (not here), DELETED (here only), NOT_DELETED (here), STALE_HERE and NEWER_HERE
(sourceUpdatedAt), STATUS_DIFFERS (bizStatus or externalStatusCode), CONTENT_DIFFERS (other fields;
with a file of pushes), ORPHAN (open here and not in the file; with --orphans).

Pushing the re-push file with "matterctl push" mends what differs. Each run writes it anew; it is
there only where there is something to push. What is newer here than in the file is left alone,
unless --overwrite-newer is given. Orphans are only listed, those with an id that the service made
are left out.

A bad line is named and left out, the others are compared. Lines of the re-push file that the service
would reject as they are (their form, or users that it does not know) are named beforehand.

Exit code: 0 nothing differs, 1 something differs, or a line was left out (or the command failed),
2 wrong usage, or nothing of the file can be compared.`;

/** `reconcile`: what a source expects against what the ledger holds. */
export function addReconcile(parent: Command, tool: Tool): void {
  const command = parent
    .command('reconcile')
    .description("compare a source's file with the ledger and write what has to be pushed again")
    .argument('<file>', 'CSV, NDJSON, or a file that was pushed')
    .option(
      '--system-code <code>',
      'the system that the matters of the file belong to (with --secret-file: that of the client)',
    )
    .option('--repush <file>', 'where lines to push go (default: <file>.repush.ndjson)')
    .option('--orphans', 'the file is complete: list what is open here and not in it')
    .option('--overwrite-newer', 'push over what is newer here too')
    .option('--limit <n>', 'most rows of the table', wholeNumber(0, 1_000_000), 200)
    .addHelpText('after', ABOUT);
  withSource(command).action((file: string, options: Options) =>
    reconcileFile(file, options, tool),
  );
}

async function reconcileFile(file: string, options: Options, given: Tool): Promise<void> {
  const startedAt = Date.now();
  const { systemCode, secretFile } = options;
  if (systemCode === undefined && secretFile === undefined) {
    throw new CommandFailure(
      'give --system-code, or ask as a client with --secret-file',
      EXIT_USAGE,
    );
  }
  const repushPath = options.repush ?? `${file}.repush.ndjson`;
  await checkFiles(file, repushPath);
  const tool = await withServiceRules(options, given);
  const { openSource } = await import('../reconcile/open-source.js');
  const source = await openSource(file, systemCode, tool);
  if (source.unknownFields.length > 0) {
    const names = escapeUnprintable(source.unknownFields.join(', '));
    tool.stderr.write(`Unknown fields, ignored: ${names}\n`);
  }
  const { orphans = false, overwriteNewer = false } = options;
  const job = { ...options, repushPath, orphans, overwriteNewer, startedAt };
  const { compareFile } = await import('../reconcile/compare-file.js');
  const summary = await compareFile(source, job, tool);
  if (options.json) await printJson(tool.stdout, { summary });
  else await printLine(tool.stdout, describe(summary));
  if (summary.differences.MISSING === summary.compared) {
    const whose =
      systemCode === undefined ? 'this the right client' : `${systemCode} the right system`;
    tool.stderr.write(`None of the matters is here: is ${whose}?\n`);
  }
  if (orphans && source.leftOutUnnamed > 0) {
    tool.stderr.write('What the lines left out are about may be among the orphans.\n');
  }
  if (!isEqual(summary) || summary.leftOut > 0) throw toFailure(summary);
}

function toFailure(summary: Summary): CommandFailure {
  const { repushFile, leftOut } = summary;
  const next = repushFile === null ? '' : `: push ${repushFile}`;
  const differ = isEqual(summary) ? [] : [`the file and the ledger differ${next}`];
  const lines = leftOut === 1 ? '1 bad line was' : `${leftOut} bad lines were`;
  const bad = leftOut === 0 ? [] : [`${lines} left out: mend and run it again`];
  return new CommandFailure([...differ, ...bad].join('; '), EXIT_FAILED);
}

/** @throws CommandFailure where the input cannot be read twice, or would be written over */
async function checkFiles(file: string, repushPath: string): Promise<void> {
  const input = file === '-' ? undefined : await stat(file);
  if (!input?.isFile()) {
    throw new CommandFailure('the input is read twice: it must be a file', EXIT_USAGE);
  }
  const { partOf } = await import('../reconcile/repush-file.js');
  for (const path of [repushPath, partOf(repushPath)]) {
    const there = await stat(path).catch(() => undefined);
    // By what they are, not by name: a folder may have two names.
    if (there?.ino === input.ino && there.dev === input.dev) {
      throw new CommandFailure('input and re-push must be two files', EXIT_USAGE);
    }
  }
}
