import { type Command, Option } from 'commander';
import { LANGUAGES, type Language } from '../../../src/protocol/language';
import type { LocalDay } from '../../../src/protocol/local-day';
import { readSecretFile } from '../client-secret';
import { CommandFailure, EXIT_USAGE } from '../failure';
import { dayIn, momentIn, toServiceUrl, withJson } from '../option-values';
import { note, printLines } from '../print';
import { isRobot, REPORT_FORMATS, type ReportFormat } from '../report/formats';
import type { ReportWindow } from '../report/windows';
import { asClient } from '../source/with-sources';
import { readLineFileSync } from '../text-file';
import type { Tool } from '../tool';

/** A value that depends on the time zone of the service, which is known after the first query. */
type InZone<T> = (timeZone: string) => T;

interface Options {
  readonly clientId: string;
  readonly secretFile: string;
  readonly url?: string;
  readonly publicUrl?: string;
  /** Epoch milliseconds. */
  readonly since?: InZone<number>;
  readonly to?: InZone<number>;
  readonly on?: InZone<LocalDay>;
  readonly format?: ReportFormat;
  readonly json?: boolean;
  readonly language?: Language;
  readonly post?: string;
  readonly postUrlFile?: string;
}

const ABOUT = `
The report counts the pushes of the client's system: received, written and failed, and the matters whose last
push failed, by reason, with the oldest. It compares them with an equally long time, as many whole days
earlier as make it end before: with "--on yesterday", the day before yesterday.

wecom, dingtalk and feishu are the messages of the robots in group chats of these products. With --post, the
report is posted too, in at most a minute, with retries. The address of a robot contains its key: on a
machine with other users, give --post-url-file. If an answer is lost, the message may arrive twice.

The client needs no more than a query key as its secret. The report contains no title and no content.

Exit code: 0 no failure is open; 1 some are open, or the command failed; 2 wrong usage.`;

/** `log report`: what failed, for the people who can resolve it. */
export function addLogReport(parent: Command, tool: Tool): void {
  const { timeZone } = tool.settings;
  const format = new Option('--format <format>', 'of the report (default: text)');
  const language = new Option('--language <language>', 'default: zh for robots, else en');
  const command = parent
    .command('report')
    .description('count pushes and open failures, and post the result to a group chat')
    .requiredOption('--client-id <id>', 'the client that asks')
    .requiredOption('--secret-file <file>', 'a file that holds its secret or a query key')
    .option('--url <url>', 'of the service (default: the running npm start)', toServiceUrl)
    .option('--public-url <url>', 'of the service, in the link (default: --url)', toServiceUrl)
    .option('--since <time>', 'received since (default: yesterday)', inZone(momentIn, timeZone))
    .option('--to <time>', 'received before (default: now)', inZone(momentIn, timeZone))
    .option('--on <day>', 'received on yesterday, or a day', inZone(dayIn, timeZone))
    .addOption(format.choices(REPORT_FORMATS))
    .addOption(language.choices(LANGUAGES))
    .option('--post <url>', 'post the report there')
    .option('--post-url-file <file>', 'a file that holds this address', readLineFileSync)
    .addHelpText('after', ABOUT);
  withJson(command, 'the same as --format json').action((options: Options) =>
    report(options, tool),
  );
}

/** Checks an option at once and computes its value later, because only the service knows the time zone. */
function inZone<T>(
  parserIn: (timeZone: () => string) => (text: string) => T,
  ownZone: () => string,
): (text: string) => InZone<T> {
  return (text) => {
    parserIn(ownZone)(text);
    return (timeZone) => parserIn(() => timeZone)(text);
  };
}

async function report(options: Options, tool: Tool): Promise<void> {
  const { clientId, url = tool.settings.serviceUrl(), publicUrl = url } = options;
  const postUrl = postUrlOf(options);
  const format = formatOf(options);
  const { language = isRobot(format) ? 'zh' : 'en' } = options;
  const secret = await readSecretFile(options.secretFile);
  const { readReport } = await import('../report/read-report.js');
  const { checkWindow } = await import('../report/windows.js');
  const { reportLines } = await import('../report/formats.js');
  const found = await asClient({ url, clientId, secret }, async (client) => {
    const { systemCode, timeZone } = await client.query('clients/me', {});
    const window = checkWindow(windowOf(options, timeZone));
    return readReport(client, { window, systemCode, timeZone, publicUrl });
  });
  const lines = reportLines(found, { format, language });
  await printLines(tool.stdout, lines);
  if (postUrl !== undefined) {
    const { postReport } = await import('../report/post.js');
    await postReport({ url: postUrl, format, text: lines.join('\n') });
    note(tool.stderr, `posted to ${new URL(postUrl).origin}`);
  }
  const { open } = found;
  if (open > 0)
    throw new CommandFailure(
      `${open} ${open === 1 ? 'matter has' : 'matters have'} an open failure`,
    );
}

function windowOf({ since, to, on }: Options, timeZone: string): ReportWindow {
  if (!on) {
    const from = since?.(timeZone) ?? momentIn(() => timeZone)('yesterday');
    return { from, to: to?.(timeZone) ?? Date.now() };
  }
  if (since || to) throw usage('--on is a whole day: leave --since and --to out');
  const { start, end } = on(timeZone);
  return { from: start, to: Math.min(end, Date.now()) };
}

function formatOf({ format, json }: Options): ReportFormat {
  if (json && format !== undefined && format !== 'json') {
    throw usage(`--json is not --format ${format}`);
  }
  return json ? 'json' : (format ?? 'text');
}

/**
 * Checks the address here and not in a parser, because Commander would print it, and it may contain a key.
 *
 * @throws CommandFailure with exit code 2 if both options are given, or the address is none
 */
function postUrlOf({ post, postUrlFile }: Options): string | undefined {
  if (post !== undefined && postUrlFile !== undefined) {
    throw usage('give --post or --post-url-file, not both');
  }
  const url = post ?? postUrlFile;
  if (url === undefined || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)))
    return url;
  const option = post === undefined ? 'the file of --post-url-file' : '--post';
  throw usage(`${option} must hold an address like https://example.com/path`);
}

const usage = (message: string) => new CommandFailure(message, EXIT_USAGE);
