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

/** Everything that was read about one push. */
interface Found extends EntryDetail {
  readonly attempts: readonly Attempt[];
}

/** `log show` prints one push: its details, its timeline and its changes. */
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
  else await print(found, { timeZone, wantsBody: options.body ?? false }, tool);
}

/** @returns `batch` if the id belongs to a batch, of which only the lines have entries */
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

/** @param batchId an id that may belong to a batch */
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

interface Printing {
  readonly timeZone: string;
  readonly wantsBody: boolean;
}

async function print(
  found: Found,
  { timeZone, wantsBody }: Printing,
  { stdout }: Tool,
): Promise<void> {
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
  if (!wantsBody) return;
  await printLine(stdout, '');
  // Indented, so that a line of the body does not look like output of this command.
  const lines = body?.split('\n').map((line) => `  ${line}`);
  const none =
    body === undefined
      ? 'The query key has no access to bodies.'
      : 'The body is not kept (any more).';
  await printLines(stdout, lines ?? [none]);
}
