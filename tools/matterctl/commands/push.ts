import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { readSecretFile } from '../client-secret';
import { CommandFailure, EXIT_USAGE, explain } from '../failure';
import { exitCodeOf } from '../interrupt';
import { toClientId, toServiceUrl, toSpan, wholeNumber, withJson } from '../option-values';
import { printJson, printLines } from '../print';
import type { PushJob, PushRunResult } from '../push/run-push';
import type { RunCounts } from '../push/tally';
import { withEncoding } from '../text-file';
import type { Tool } from '../tool';

interface Options {
  readonly clientId: string;
  readonly secretFile: string;
  readonly url?: string;
  readonly batch: number;
  readonly concurrency?: number;
  readonly retries: number;
  readonly maxWait: number;
  readonly checkpoint?: string;
  readonly failures?: string;
  readonly restart?: boolean;
  readonly dryRun?: boolean;
  readonly encoding?: string;
  readonly json?: boolean;
}

/** Default of --max-wait: long enough for an outage at night that an operator ends on the next day. */
const MAX_WAIT = 86_400_000;

const ABOUT = `
Each line is {"op":"upsert|status|reopen|delete","body":{...}}, and may have a "key", which is sent
as X-Idempotency-Key. Lines of one externalId are sent in their order, others side by side. They go in
batches, whose size and number follow what the service takes: up to --batch lines, --concurrency at a time.
An interrupted run goes on where it was when the same command is given again.
Lines that fail for good go to the failure file, which can be mended and pushed again: a line that could
not be read stands in it as "text", mended there or replaced by the push that it should be. What fails of
x.failed.ndjson goes to x.failed.2.ndjson. A second run on the same file is told which process has it.
The file is UTF-8, UTF-16 with a byte order mark, or GBK; --encoding names another encoding.

If something other than the service answers at --url (a redirect, a page of a gateway), the run ends at once,
and no line fails for it.

No line fails because the service does: while its database, its queue or the network is away, a backlog
is full or the client is paused, nothing is lost and no line uses up its tries. The run says what it
waits for, at most every ten seconds, tries one line now and then, and goes on; after --max-wait it ends
without a failed line. --retries counts what may lie in the line alone: connections that break, or
errors, while the service works for others. A service that was not reached once is not waited for: the
run ends after --retries tries.

With --dry-run the service checks every line as it would be checked, users and all, and nothing is written: no
matter, no push log, no checkpoint. What the ledger holds is not looked at. Lines that would fail are told on
stderr, the first hundred, or written to --failures. The exit code is that of a push.`;

/** `push` signs and sends the pushes of a file. */
export function addPush(parent: Command, tool: Tool): void {
  const command = parent
    .command('push')
    .description('send the pushes of an NDJSON file')
    .argument('<file>', 'one push a line; - reads standard input')
    .requiredOption('--client-id <id>', 'the client that pushes', toClientId)
    .requiredOption('--secret-file <file>', 'a file that holds its secret and nothing else')
    .option('--url <url>', 'of the service (default: the running npm start)', toServiceUrl)
    .option('--batch <n>', 'most lines of a request; 1: each alone', wholeNumber(1, 1_000), 200)
    .option(
      '--concurrency <n>',
      'most requests at the same time (default: 8, with --batch 1: 32)',
      wholeNumber(1, 1_000),
    )
    .option('--retries <n>', 'tries of a line after the first', wholeNumber(0, 100), 8)
    .addOption(
      new Option('--max-wait <span>', 'how long a line may wait for the service')
        .argParser(toSpan)
        .default(MAX_WAIT, '24h'),
    )
    .option('--checkpoint <file>', 'where to note what is done (default: <file>.checkpoint)')
    .option('--restart', 'start at the first line, whatever the checkpoint says')
    .option('--failures <file>', 'where failed lines go (default: <file>.failed.ndjson)')
    .addOption(
      new Option('--dry-run', 'only check the lines: nothing is written').conflicts([
        'checkpoint',
        'restart',
      ]),
    )
    .addHelpText('after', ABOUT);
  withJson(withEncoding(command), 'print the summary as JSON').action(
    (file: string, options: Options) => push(file, options, tool),
  );
}

async function push(file: string, options: Options, tool: Tool): Promise<void> {
  const job = await toJob(file, options, tool);
  const { runPush } = await import('../push/run-push.js');
  const result = await runPush(job, tool);
  const summary = summarize(result, job);
  if (options.json) await printJson(tool.stdout, summary);
  else await printLines(tool.stdout, describe(summary));
  if (result.stopped) throw toFailure(result.stopped, job);
  if (summary.failed > 0) throw new CommandFailure(failedLines(summary.failed, job));
}

function failedLines(count: number, { dryRun, failuresPath }: PushJob): string {
  const lines = count === 1 ? '1 line' : `${count} lines`;
  if (!dryRun) return `${lines} failed: see ${failuresPath}, mend and push it`;
  return `${lines} would fail${failuresPath === undefined ? '' : `: see ${failuresPath}`}`;
}

async function toJob(file: string, options: Options, tool: Tool): Promise<PushJob> {
  const isFile = file !== '-';
  const dryRun = options.dryRun ?? false;
  const { checkpointPath, failuresPath } = dryRun
    ? { checkpointPath: undefined, failuresPath: options.failures }
    : writtenBy(isFile ? file : undefined, options);
  const files = [file, options.secretFile, checkpointPath, failuresPath].filter(
    (path) => path !== undefined,
  );
  if (new Set(files.map((path) => resolve(path))).size < files.length) {
    throw new CommandFailure(
      'input, secret, checkpoint and failures must be four files',
      EXIT_USAGE,
    );
  }
  const secret = await readSecretFile(options.secretFile);
  return {
    ...options,
    concurrency: options.concurrency ?? (options.batch === 1 ? 32 : 8),
    file: isFile ? file : undefined,
    url: options.url ?? tool.settings.serviceUrl(),
    secret,
    checkpointPath,
    failuresPath,
    restart: options.restart ?? false,
    dryRun,
  };
}

/** @param file undefined: standard input */
function writtenBy(file: string | undefined, { checkpoint, failures }: Options) {
  return {
    checkpointPath: checkpoint ?? (file === undefined ? undefined : `${file}.checkpoint`),
    failuresPath: failures ?? failureFileOf(file ?? 'stdin'),
  };
}

/**
 * The name of the failure file: `x.failed.ndjson` for `x`, and then `x.failed.2.ndjson`, `x.failed.3.ndjson`, so that
 * names do not grow when a failure file is pushed again.
 */
export function failureFileOf(file: string): string {
  const [, source, nth] = /^(.+)\.failed(?:\.([1-9]\d{0,5}))?\.ndjson$/.exec(file) ?? [];
  if (source === undefined) return `${file}.failed.ndjson`;
  return `${source}.failed.${nth === undefined ? 2 : Number(nth) + 1}.ndjson`;
}

function toFailure(
  { signal, error }: NonNullable<PushRunResult['stopped']>,
  { checkpointPath }: PushJob,
): CommandFailure {
  const next = checkpointPath === undefined ? '' : '; the same command goes on from here';
  if (!signal) return new CommandFailure(`${explain(error).message}${next}`);
  return new CommandFailure(`interrupted${next}`, exitCodeOf(signal));
}

/** The summary of a run. */
interface Summary extends RunCounts {
  readonly ok: number;
  /** Number of lines that earlier runs have done. */
  readonly resumed: number;
  /** Duration of this run. */
  readonly elapsedMs: number;
  /** Lines per second of this run. */
  readonly rate: number;
  readonly finished: boolean;
  /** Path of the failure file; null if no line failed, or if a dry run has printed the failed lines. */
  readonly failuresFile: string | null;
  /** Whether it was a dry run. The outcome of a valid line is then VALID. */
  readonly dryRun?: true;
}

function summarize(result: PushRunResult, { failuresPath, dryRun }: PushJob): Summary {
  const { counts, resumed, elapsed, stopped } = result;
  const rate = ((counts.lines - resumed) * 1_000) / Math.max(elapsed, 1);
  return {
    ...counts,
    ok: counts.lines - counts.failed,
    resumed,
    elapsedMs: elapsed,
    rate: Math.round(rate * 10) / 10,
    finished: stopped === undefined,
    failuresFile: counts.failed > 0 ? (failuresPath ?? null) : null,
    ...(dryRun && { dryRun: true as const }),
  };
}

/** The summary as lines of text. */
function describe(summary: Summary): string[] {
  const { lines, resumed, elapsedMs, rate, failed, retries, replayed, afterFailure } = summary;
  const { warned, warnings } = summary;
  const before = resumed > 0 ? `, ${resumed} of them before` : '';
  const rows = [
    `${summary.dryRun ? 'Dry run: ' : ''}${lines} lines${before}, in ${(elapsedMs / 1_000).toFixed(1)} s (${Math.round(rate)}/s)`,
    ...Object.entries(summary.outcomes).map(([name, count]) => row(name, count)),
    row('failed', failed),
    ...Object.entries(summary.failures).map(([reason, count]) => row(`  ${reason}`, count)),
    row('retries', retries),
    ...Object.entries(summary.retryReasons).map(([reason, count]) => row(`  ${reason}`, count)),
    row('replayed', replayed),
  ];
  if (warned > 0) {
    rows.push(row('accepted with warnings', warned));
    for (const [name, count] of Object.entries(warnings)) rows.push(row(`  ${name}`, count));
  }
  if (afterFailure > 0) rows.push(row('sent after a failed line of their key', afterFailure));
  return rows;
}

const row = (name: string, count: number) => `  ${name.padEnd(24)} ${String(count).padStart(9)}`;
