import type { Command } from 'commander';
import type { Diagnosis } from '../../contract/diagnosis';
import { toOperatorEntryView } from '../../portal/entry-view';
import { createBodies } from '../../push-log/bodies';
import type { LogEntry } from '../../push-log/entry-model';
import { receivedAtOf } from '../../push-log/request-id';
import { createLogSearch } from '../../push-log/search';
import { bodyText } from '../../reconcile/body-text';
import { CommandFailure } from '../failure';
import { diagnosisLines, diagnosisOf } from '../log/diagnosis';
import { detailsOf, headline, listsOf, waitingText } from '../log/entry-details';
import { localTime } from '../log/local-time';
import { type Attempt, attemptsOf } from '../log/other-attempts';
import { timelineOf } from '../log/timeline';
import { timelineLines } from '../log/timeline-lines';
import { toRequestId, withDatabase } from '../option-values';
import { escapeUnprintable, printFields, printJson, printLine } from '../print';
import type { Tool } from '../tool';
import { type DatabaseOptions, withMongo } from '../with-mongo';

interface Options extends DatabaseOptions {
  readonly body?: boolean;
}

/** What was read of one push. */
interface Found {
  readonly entry: LogEntry;
  readonly attempts: readonly Attempt[];
  /** Undefined: not asked for. Null: not kept. */
  readonly body: string | null | undefined;
  /** Of a refused signature. */
  readonly diagnosis: Diagnosis | undefined;
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
  withDatabase(command).action((requestId: string, options: Options) =>
    show(requestId, options, tool),
  );
}

async function show(requestId: string, options: Options, tool: Tool): Promise<void> {
  const timeZone = tool.settings.timeZone();
  const found = await find(requestId, options, tool);
  if (!found) {
    const at = localTime(receivedAtOf(requestId), timeZone);
    throw new CommandFailure(
      `there is no push ${requestId} in the log; its id says ${at}, and entries are kept for PUSH_LOG_RETENTION`,
    );
  }
  if (options.json) await printJson(tool.stdout, toJson(found));
  else await print(found, timeZone, tool);
}

function find(requestId: string, options: Options, tool: Tool): Promise<Found | undefined> {
  return withMongo(tool, options, async (connection) => {
    const search = createLogSearch(connection);
    const { entries } = await search.page({ requestId }, { limit: 1 });
    const [entry] = entries;
    if (!entry) return undefined;
    const attempts = await attemptsOf(entry, search);
    const diagnosis = await diagnosisOf(entry, connection, tool);
    if (!options.body) return { entry, attempts, diagnosis, body: undefined };
    const bodies = await createBodies(connection).find([requestId]);
    return { entry, attempts, diagnosis, body: bodyText(bodies.get(requestId)) };
  });
}

function viewOf({ entry, attempts }: Found) {
  const own = attempts.find(({ requestId }) => requestId === String(entry._id));
  return toOperatorEntryView(entry, own?.attempt);
}

function toJson(found: Found) {
  const { attempts, body, diagnosis } = found;
  return {
    ...viewOf(found),
    attempts,
    ...(diagnosis && { diagnosis }),
    ...(body !== undefined && { body }),
  };
}

async function print(found: Found, timeZone: string, { stdout }: Tool): Promise<void> {
  const { entry, attempts, body, diagnosis } = found;
  const view = viewOf(found);
  const way = timelineLines(timelineOf(entry), timeZone);
  if (view.settledAt === null) way.push(waitingText(entry.deadlineAt, Date.now(), timeZone));
  for (const line of [headline(view, timeZone), '', ...way, '']) await printLine(stdout, line);
  await printFields(stdout, detailsOf(view, attempts, timeZone));
  for (const line of listsOf(view, timeZone)) await printLine(stdout, line);
  for (const line of diagnosis ? diagnosisLines(diagnosis) : []) await printLine(stdout, line);
  if (body === undefined) return;
  await printLine(stdout, '');
  await printLine(stdout, body === null ? 'The body is not kept (any more).' : toLines(body));
}

/** A body as it was sent, but for what a terminal would take for a command. */
const toLines = (body: string) => body.split('\n').map(escapeUnprintable).join('\n');
