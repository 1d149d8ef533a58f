import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { readSecretFile } from '../client-secret';
import { CommandFailure, explain, usageFailure } from '../failure';
import { exitCodeOf } from '../interrupt';
import { toSpan, wholeNumber, withJson, withSigner } from '../option-values';
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
Each line is {"op":"upsert|status|reopen|delete","body":{...}}. It may have a "key", which is sent as
X-Idempotency-Key. Lines of one externalId are sent in their order, other lines in parallel. A request has up to
--batch lines, and up to --concurrency requests run in parallel; both adapt to the limits of the service.
To resume after an interruption, run the same command again.
Lines that failed for good are written to the failure file. Correct them there and push that file. An unreadable
line is in it as "text": correct the text, or replace it with a push. The failures of x.failed.ndjson are
written to x.failed.2.ndjson. Only one run can use a file: a second run names the process of the first one.
The file is UTF-8, UTF-16 with a byte order mark, or GBK; --encoding names another encoding.

If another server answers at --url (a redirect, the page of a gateway), the run ends at once, and no line fails.

No line fails because of the service. While its database, its queue or the network is unavailable, a backlog is
full, or the client is paused, no retries are used up. The run then reports what it waits for, at most every ten
seconds, and tries one line from time to time. After --max-wait it ends without failed lines. --retries limits
only errors that may be caused by the line itself: broken connections or errors while the service works for other
lines. If the run never reached the service, it ends after --retries attempts.

With --dry-run, the service checks every line like a push, including its users, and writes nothing: no matter, no
push log, no checkpoint. It does not compare lines with the ledger. The first hundred lines that would fail are
printed on stderr, or all are written to --failures. The exit code is that of a push.`;

/** `push` signs and sends the pushes of a file. */
export function addPush(parent: Command, tool: Tool): void {
  const named = parent
    .command('push')
    .description('send the pushes of an NDJSON file')
    .argument('<file>', 'one push per line; - reads standard input');
  const command = withSigner(named, { client: 'the client that pushes' })
    .option('--batch <n>', 'maximum lines per request; 1: no batches', wholeNumber(1, 1_000), 200)
    .option(
      '--concurrency <n>',
      'most requests at the same time (default: 8, with --batch 1: 32)',
      wholeNumber(1, 1_000),
    )
    .option('--retries <n>', 'retries of a line', wholeNumber(0, 100), 8)
    .addOption(
      new Option('--max-wait <span>', 'how long a line may wait for the service')
        .argParser(toSpan)
        .default(MAX_WAIT, '24h'),
    )
    .option('--checkpoint <file>', 'file for the progress (default: <file>.checkpoint)')
    .option('--restart', 'start at the first line and ignore the checkpoint')
    .option('--failures <file>', 'file for failed lines (default: <file>.failed.ndjson)')
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
  if (!dryRun) return `${lines} failed: correct ${failuresPath} and push it`;
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
    throw usageFailure('input, secret, checkpoint and failures must be four files');
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
