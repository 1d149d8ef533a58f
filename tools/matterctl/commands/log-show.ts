import type { Command } from 'commander';
import { receivedAtOf } from '../../../src/storage/push-log/request-id';
import { CommandFailure } from '../failure';
import { zonedTime } from '../local-time';
import type { Attempt } from '../log/entry-details';
import { timelineLines, timelineOf } from '../log/timeline';
import { toRequestId } from '../option-values';
import { printFields, printJson, printLine, printLines } from '../print';
import { type SourceOptions, withSource } from '../source/options';
import type { EntryDetail, LogSource } from '../source/sources';
import { withSources } from '../source/with-sources';
import type { Tool } from '../tool';

interface Options extends SourceOptions {
  readonly body?: boolean;
}

/** What was read of one push. */
interface Found extends EntryDetail {
  readonly attempts: readonly Attempt[];
}

/** `log show`: one push, its way and its effect. */
export function addLogShow(parent: Command, tool: Tool): void {
  const command = parent
    .command('show')
    .description(
      'show one push: its way in time, what it changed, its other attempts, what was wrong with its signature',
    )
    .argument('<requestId>', 'as the caller was given it', toRequestId)
    .option('--body', 'its body too, as long as that is kept');
  withSource(command).action((requestId: string, options: Options) =>
    show(requestId, options, tool),
  );
}

async function show(requestId: string, options: Options, tool: Tool): Promise<void> {
  const timeZone = tool.settings.timeZone();
  const found = await find(requestId, options, tool);
  if (found === 'batch') {
    throw new CommandFailure(
      `${requestId} is a batch, whose lines are pushes of their own: matterctl log query --batch ${requestId} lists them`,
    );
  }
  if (!found) {
    const at = zonedTime(receivedAtOf(requestId), timeZone);
    throw new CommandFailure(
      `there is no push ${requestId} in the log; its id says ${at}, and entries are kept for PUSH_LOG_RETENTION`,
    );
  }
  if (options.json) await printJson(tool.stdout, toJson(found));
  else await print(found, timeZone, tool);
}

/** @returns `batch` where it is the id of one, of which only the lines have entries */
function find(
  requestId: string,
  options: Options,
  tool: Tool,
): Promise<Found | 'batch' | undefined> {
  const { body = false } = options;
  return withSources(tool, options, async ({ log }) => {
    const found = await log.detail(requestId, { body });
    if (!found) return (await hasLines(log, requestId)) ? 'batch' : undefined;
    const { attemptsOf } = await import('../log/entry-details.js');
    const attempts = await attemptsOf(found.view, log);
    const own = attempts.find((one) => one.requestId === requestId);
    return { ...found, view: { ...found.view, attempt: own?.attempt ?? null }, attempts };
  });
}

/** @param batchId perhaps */
async function hasLines(log: LogSource, batchId: string): Promise<boolean> {
  const { entries } = await log.page({ batchId }, { limit: 1 });
  return entries.length > 0;
}

function toJson({ view, attempts, body, diagnosis }: Found) {
  return {
    ...view,
    attempts,
    ...(diagnosis && { diagnosis }),
    ...(body !== undefined && { body }),
  };
}

async function print(found: Found, timeZone: string, { stdout }: Tool): Promise<void> {
  const { detailsOf, diagnosisLines, headline, listsOf, waitingText } = await import(
    '../log/entry-details.js'
  );
  const { view, attempts, body, diagnosis } = found;
  const way = timelineLines(timelineOf(view), timeZone);
  if (view.settledAt === null) way.push(waitingText(view.deadlineAt, Date.now(), timeZone));
  await printLines(stdout, [headline(view, timeZone), '', ...way, '']);
  await printFields(stdout, detailsOf(view, attempts, timeZone));
  await printLines(stdout, listsOf(view, timeZone));
  await printLines(stdout, diagnosis ? diagnosisLines(diagnosis) : []);
  if (body === undefined) return;
  await printLine(stdout, '');
  // Indented: a line of the body must not look like one of this command.
  const lines = body?.split('\n').map((line) => `  ${line}`);
  await printLines(stdout, lines ?? ['The body is not kept (any more).']);
}
