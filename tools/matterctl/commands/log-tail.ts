import { once } from 'node:events';
import type { Command } from 'commander';
import type { LogFilter } from '../../../src/storage/push-log';
import { CommandFailure, usageFailure } from '../failure';
import { exitCodeOf, listenForInterrupt } from '../interrupt';
import { localTime, timeHead } from '../local-time';
import { matterName, resultText, totalTime } from '../log/entry-text';
import { type FilterOptions, toLogFilter, withLogFilters } from '../log/filter-options';
import { createSearchProgress, firstEntries, type Reached } from '../log/first-entries';
import { keepPolling, LogWatch, Poll } from '../log/follow';
import { wholeNumber } from '../option-values';
import { printable, printJson, printLine } from '../print';
import { type SourceOptions, withSource } from '../source/options';
import type { LogSource, ShownEntry } from '../source/sources';
import { withSources } from '../source/with-sources';
import type { Tool } from '../tool';

interface Options extends SourceOptions, FilterOptions {
  readonly lines: number;
  readonly follow?: boolean;
}

const ABOUT = `
With --follow, the command prints a push when it is settled, or after it has been queued for 3 seconds. If the
database or the service is unavailable for a while, the command waits.`;

/** `log tail` prints a line for each of the newest pushes, and with --follow for each new push. */
export function addLogTail(parent: Command, tool: Tool): void {
  const command = withLogFilters(
    parent.command('tail').description('print the newest pushes, the oldest of them first'),
    tool,
  )
    .option('-n, --lines <n>', 'how many', wholeNumber(0, 10_000), 20)
    .option('-f, --follow', 'go on with new ones, until interrupted')
    .addHelpText('after', ABOUT);
  withSource(command).action((options: Options) => tail(options, tool));
}

async function tail(options: Options, tool: Tool): Promise<void> {
  const { lines, json } = options;
  const filter = toLogFilter(options);
  if (options.follow && filter.to !== undefined) {
    throw usageFailure('--follow has no end: leave --to out');
  }
  const timeZone = tool.settings.timeZone();
  let isFirst = true;
  const print = async (view: ShownEntry) => {
    if (json) return printJson(tool.stdout, view);
    if (isFirst) await printLine(tool.stdout, entryHead(timeZone));
    isFirst = false;
    await printLine(tool.stdout, entryLine(view, timeZone));
  };
  await withSources(tool, options, async ({ log }) => {
    const tailing = new Tailing({ source: log, filter, print, onPage: createSearchProgress(tool) });
    if (options.follow) await follow(tailing, lines, tool);
    else await tailing.printNewest(lines);
  });
}

/** Prints until it is interrupted. @throws CommandFailure when it is interrupted, and the errors of the source */
async function follow(tailing: Tailing, lines: number, { stderr }: Tool): Promise<void> {
  const stop = new AbortController();
  const interrupt = listenForInterrupt(
    () => stop.abort(),
    () => undefined,
  );
  const run = async () => {
    // The order of these calls ensures that no push between them is lost.
    await tailing.begin();
    await tailing.printNewest(lines);
    await keepPolling(() => tailing.poll(), stderr, stop.signal);
  };
  try {
    const running = run();
    // A running poll is not awaited. It fails when the connection is closed.
    running.catch(() => undefined);
    await Promise.race([running, once(stop.signal, 'abort')]);
  } finally {
    interrupt.dispose();
  }
  const signal = interrupt.signal();
  // No message, because the interrupt is the normal end of this command.
  if (signal) throw new CommandFailure('', exitCodeOf(signal));
}

/** Prints the newest pushes, and then new ones. */
class Tailing {
  readonly #source: LogSource;
  readonly #filter: LogFilter;
  readonly #print: (view: ShownEntry) => Promise<void>;
  readonly #onPage: (reached: Reached) => void;
  readonly #watch = new LogWatch();
  readonly #poll: Poll;

  constructor({ source, filter, print, onPage }: TailingDependencies) {
    this.#source = source;
    this.#filter = filter;
    this.#print = print;
    this.#onPage = onPage;
    this.#poll = new Poll({ source, filter, watch: this.#watch, clock: Date.now });
  }

  /** Prints the newest pushes, oldest first. @param limit maximum number */
  async printNewest(limit: number): Promise<void> {
    if (limit > 0) await this.#printAll(this.#newest(limit));
  }

  /** Marks all existing pushes as printed. */
  async begin(): Promise<void> {
    for await (const view of this.#poll.due()) this.#markShown(view);
    this.#poll.advance();
  }

  /** Prints the pushes that are new since the last call. */
  async poll(): Promise<void> {
    await this.#printAll(this.#poll.due());
    this.#poll.advance();
  }

  async *#newest(limit: number): AsyncGenerator<ShownEntry> {
    const found: ShownEntry[] = [];
    const options = { limit, onPage: this.#onPage };
    for await (const view of firstEntries(this.#source, this.#filter, options)) found.push(view);
    yield* found.reverse();
  }

  async #printAll(entries: AsyncIterable<ShownEntry>): Promise<void> {
    for await (const view of this.#source.numbered(entries)) {
      await this.#print(view);
      this.#markShown(view);
    }
  }

  #markShown({ requestId, state }: ShownEntry): void {
    this.#watch.markShown(requestId, state, Date.now());
  }
}

interface TailingDependencies {
  readonly source: LogSource;
  readonly filter: LogFilter;
  readonly print: (view: ShownEntry) => Promise<void>;
  readonly onPage: (reached: Reached) => void;
}

/** Formats an entry as a line with fixed columns. The matter is last, because its id may be long. */
export function entryLine(view: ShownEntry, timeZone: string): string {
  const total = totalTime(view);
  return toLine(timeZone, [
    localTime(view.receivedAt, timeZone),
    view.requestId,
    view.operation,
    String(view.attempt ?? '-'),
    resultText(view),
    total === null ? '-' : `${total} ms`,
    matterName(view),
  ]);
}

/** The titles of the columns of `entryLine`. */
export const entryHead = (timeZone: string): string =>
  toLine(timeZone, [received(timeZone), 'REQUEST ID', 'OP', 'NO', 'RESULT', 'TIME', 'MATTER']);

const received = (timeZone: string) => timeHead('RECEIVED', timeZone);

type Columns = [string, string, string, string, string, string, string];

function toLine(
  timeZone: string,
  [time, requestId, operation, attempt, result, total, matter]: Columns,
): string {
  const columns = [
    time.padEnd(received(timeZone).length),
    requestId.padEnd(24),
    operation.padEnd(6),
    attempt.padStart(2),
    result.padEnd(20),
    total.padStart(8),
    matter,
  ];
  return printable(columns.join('  '));
}
