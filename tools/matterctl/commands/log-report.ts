import { type Command, Option } from 'commander';
import { LANGUAGES, type Language } from '../../../src/protocol/language';
import { usageFailure } from '../failure';
import { dayIn, momentIn, toServiceUrl, toSpan, withJson, withSigner } from '../option-values';
import { isRobot, REPORT_FORMATS, type ReportFormat } from '../report/formats';
import { type PostOptions, postTargetOf, withPost } from '../report/post-options';
import type { AskedTimes, InZone } from '../report/windows';
import type { Tool } from '../tool';

interface Options extends AskedTimes, PostOptions {
  readonly clientId: string;
  readonly secretFile: string;
  readonly url?: string;
  readonly publicUrl?: string;
  readonly format?: ReportFormat;
  readonly json?: boolean;
  readonly language?: Language;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Default of --timeout: below the deadline of the CronJob in ops/kubernetes. */
const TIMEOUT = 300_000;

const ABOUT = `
The report counts the pushes of the client's system: received, written and failed, and the matters whose last
push failed, by reason, with the oldest. It compares them with an equally long time, as many whole days
earlier as make it end before: with "--on yesterday", the day before yesterday.

wecom, dingtalk and feishu are the messages of the robots in group chats of these products. With --post, the
report is posted too, in at most a minute, with retries. If the report cannot be made, the cause is posted.
The address of a robot contains its key: on a machine with other users, give --post-url-file. If an answer
is lost, the message may arrive twice. If a robot of DingTalk or Feishu checks signatures, give
--post-secret-file.

The client needs no more than a query key as its secret. The report contains no title and no content.

Exit code: 0 no failure is open; 1 some are open or may be, or the command failed; 2 wrong usage. Failures may
be open if pushes were rejected for their signature, time or secret, if batches were rejected as a whole,
if failed pushes have no entry in the log, or if the service could not count all pushes.`;

/** `log report`: what failed, for the people who can resolve it. */
export function addLogReport(parent: Command, tool: Tool): void {
  const { timeZone } = tool.settings;
  const format = new Option('--format <format>', 'of the report (default: text)');
  const timeout = new Option('--timeout <span>', 'for the whole command');
  const language = new Option('--language <language>', 'default: zh for robots, else en');
  const named = parent
    .command('report')
    .description('count pushes and open failures, and post the result to a group chat');
  const command = withSigner(named, {
    client: 'the client that asks',
    secret: 'a file that holds its secret or a query key',
  })
    .option('--public-url <url>', 'of the service, in the link (default: --url)', toServiceUrl)
    .option('--since <time>', 'received since (default: yesterday)', inZone(momentIn, timeZone))
    .option('--to <time>', 'received before (default: now)', inZone(momentIn, timeZone))
    .option('--on <day>', 'received on yesterday, or a day', inZone(dayIn, timeZone))
    .addOption(format.choices(REPORT_FORMATS))
    .addOption(language.choices(LANGUAGES))
    .addOption(timeout.argParser(toSpan).default(TIMEOUT, '5m'))
    .addHelpText('after', ABOUT);
  withJson(withPost(command), 'the same as --format json').action((options: Options) =>
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
  const { clientId, secretFile, timeout, url = tool.settings.serviceUrl() } = options;
  const format = formatOf(options);
  const { publicUrl = url, language = isRobot(format) ? 'zh' : 'en' } = options;
  const target = await postTargetOf(options, format);
  const { runReport } = await import('../report/run-report.js');
  const job = { url, publicUrl, clientId, secretFile, times: options, format, language };
  await runReport({ ...job, target, timeout }, tool);
}

function formatOf({ format, json }: Options): ReportFormat {
  if (json && format !== undefined && format !== 'json') {
    throw usageFailure(`--json is not --format ${format}`);
  }
  return json ? 'json' : (format ?? 'text');
}
