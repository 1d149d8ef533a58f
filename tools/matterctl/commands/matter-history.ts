import type { Command } from 'commander';
import { inBatches } from '../../../src/concurrency/batcher';
import type { MatterKey } from '../../../src/storage/ledger';
import { CommandFailure } from '../failure';
import { localTime, timeHead, zonedTime } from '../local-time';
import { resultText, shortChanges, staleText } from '../log/entry-text';
import { firstEntries } from '../log/first-entries';
import { wholeNumber } from '../option-values';
import { note, printable, printJson, printLine } from '../print';
import { type SourceOptions, withSource } from '../source/options';
import type { LogSource, MatterSource, ShownEntry } from '../source/sources';
import { withSources } from '../source/with-sources';
import type { Tool } from '../tool';

interface Options extends SourceOptions {
  readonly limit?: number;
}

/** `matter history` prints every push of a matter in the order of receipt. */
export function addMatterHistory(parent: Command, tool: Tool): void {
  const command = parent
    .command('history')
    .description('list all pushes of a matter, the oldest first, with what each changed')
    .argument('<systemCode>')
    .argument('<externalId>')
    .option('--limit <n>', 'only the newest so many', wholeNumber(1, 10_000));
  withSource(command).action((systemCode: string, externalId: string, options: Options) =>
    history({ systemCode, externalId }, options, tool),
  );
}

async function history(matter: MatterKey, options: Options, tool: Tool): Promise<void> {
  const { stdout, stderr, settings } = tool;
  const timeZone = settings.timeZone();
  const lines = createHistoryLines(timeZone);
  const printNote = (line: string) => note(stderr, line);
  let count = 0;
  await withSources(tool, { ...options, ...matter }, async ({ log, matters }) => {
    const entries = historyOf(matter, log, { limit: options.limit, printNote });
    for await (const view of log.numbered(entries)) {
      count += 1;
      if (options.json) await printJson(stdout, view);
      else {
        if (count === 1) await printLine(stdout, historyHead(timeZone));
        await printLine(stdout, lines.add(view));
      }
    }
    if (count === 0) throw await nothingOf(matter, matters, timeZone);
  });
  if (lines.isOutOfOrder()) printNote('* took effect before a push above it: REV is the order.');
}

/** The message if there is no history. */
async function nothingOf(
  matter: MatterKey,
  matters: MatterSource,
  timeZone: string,
): Promise<CommandFailure> {
  const name = `${matter.systemCode}/${matter.externalId}`;
  const kept = await matters.find(matter);
  if (!kept) return new CommandFailure(`there is no matter ${name}, and no push of it in the log`);
  const changed = zonedTime(kept.updatedAt, timeZone);
  return new CommandFailure(
    `no push of ${name} is in the log any more; it changed last ${changed}`,
  );
}

/** Maximum problems of a rejected body that are printed. */
const MAX_PROBLEMS = 3;
/** Marks the revision of a push that took effect before a push that was received earlier. */
const EARLIER = '*';

const historyHead = (timeZone: string) =>
  toLine(timeHead('RECEIVED', timeZone), 'OP', 'RESULT', 'REV', 'REQUEST ID', 'EFFECT');

/** Formats the pushes of one matter, a line for each, with the effect of the push. */
interface HistoryLines {
  /** Call it with the pushes in the order of their receipt. */
  add(view: ShownEntry): string;
  /** Whether a push took effect after a push that was received later. */
  isOutOfOrder(): boolean;
}

export function createHistoryLines(timeZone: string): HistoryLines {
  let highest = 0;
  let isOutOfOrder = false;
  return {
    add: (view) => {
      const revision = view.revision ?? 0;
      const isLate = revision > 0 && revision < highest;
      isOutOfOrder ||= isLate;
      highest = Math.max(highest, revision);
      return toLine(
        localTime(view.receivedAt, timeZone),
        view.operation,
        resultText(view),
        revision === 0 ? '-' : `${revision}${isLate ? EARLIER : ''}`,
        view.requestId,
        [effectText(view, timeZone), againText(view)].filter(Boolean).join('; '),
      );
    },
    isOutOfOrder: () => isOutOfOrder,
  };
}

const againText = ({ resentFrom, operator }: ShownEntry) =>
  resentFrom === null ? '' : `${resentFrom} sent again by ${operator ?? 'an operator'}`;

/** The effect of a push, or why it had none. */
function effectText(view: ShownEntry, timeZone: string): string {
  const { state, stale, changes, problems, duplicateOf } = view;
  if (state === 'QUEUED') return 'not settled yet';
  if (state === 'EXPIRED') return 'without effect';
  if (state === 'REPLAYED') return `answered as ${duplicateOf}`;
  if (state === 'REFUSED') {
    const named = problems.slice(0, MAX_PROBLEMS).map((it) => `${it.field}: ${it.message}`);
    return [...named, ...(problems.length > MAX_PROBLEMS ? ['…'] : [])].join(', ');
  }
  if (stale) return staleText(view, timeZone) ?? '';
  return changes.length > 0 ? shortChanges(changes, timeZone) : 'changed nothing';
}

function toLine(
  time: string,
  operation: string,
  result: string,
  revision: string,
  requestId: string,
  effect: string,
): string {
  const columns = [
    time.padEnd(23),
    operation.padEnd(6),
    result.padEnd(20),
    revision.padStart(5),
    requestId.padEnd(24),
    effect,
  ];
  return printable(columns.join('  ')).trimEnd();
}

interface HistoryOptions {
  /** Maximum pushes: the newest ones. */
  readonly limit?: number | undefined;
  /** Called with a line that states which pushes are missing. */
  readonly printNote: (note: string) => void;
}

type EntryResult = Pick<ShownEntry, 'state' | 'outcome' | 'reason'>;

/** Maximum oldest pushes among which the push that created the matter is searched. */
const BEGINNING = 500;

/** The pushes of one matter in the order of receipt. It reports if the log no longer has all of them. */
async function* historyOf(
  matter: MatterKey,
  source: LogSource,
  { limit, printNote }: HistoryOptions,
): AsyncGenerator<ShownEntry> {
  if (limit !== undefined) {
    yield* newestOf(matter, source, limit, printNote);
    return;
  }
  let isFirst = true;
  for await (const batch of inBatches(source.all(matter, { oldestFirst: true }), BEGINNING)) {
    if (isFirst) reportMissing(batch, printNote);
    isFirst = false;
    yield* batch;
  }
}

async function* newestOf(
  matter: MatterKey,
  source: LogSource,
  limit: number,
  printNote: HistoryOptions['printNote'],
): AsyncGenerator<ShownEntry> {
  const newest: ShownEntry[] = [];
  let hasMore = false;
  const onPage = ({ next }: { readonly next: string | undefined }) => {
    hasMore = next !== undefined;
  };
  for await (const entry of firstEntries(source, matter, { limit, onPage })) newest.push(entry);
  newest.reverse();
  if (hasMore) printNote(`Only the newest ${limit} pushes: without --limit there are more.`);
  else reportMissing(newest, printNote);
  yield* newest;
}

function reportMissing(
  oldest: readonly EntryResult[],
  printNote: HistoryOptions['printNote'],
): void {
  if (isWithoutBeginning(oldest)) {
    printNote('Older pushes of this matter are no longer kept (PUSH_LOG_RETENTION).');
  }
}

/**
 * Whether the push that created the matter is missing: one of the oldest pushes found an existing matter, and none of
 * them created it. It checks all of them, because the first received push need not be the first applied one.
 */
export function isWithoutBeginning(oldest: readonly EntryResult[]): boolean {
  return oldest.some(hasMet) && !oldest.some(isCreation);
}

const isCreation = ({ state, outcome }: EntryResult) =>
  state === 'PERSISTED' && outcome === 'CREATED';
const hasMet = ({ state, reason }: EntryResult) =>
  state === 'PERSISTED' || state === 'REPLAYED' || reason === 'MATTER_DELETED';
