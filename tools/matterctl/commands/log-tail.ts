import { once } from 'node:events';
import { constants } from 'node:os';
import type { Command } from 'commander';
import { CommandFailure, EXIT_USAGE } from '../failure';
import { listenForInterrupt } from '../interrupt';
import { entryLine } from '../log/entry-line';
import { type FilterOptions, toLogFilter, withLogFilters } from '../log/filter-options';
import { keepPolling } from '../log/keep-polling';
import { createSearchProgress } from '../log/search-progress';
import { createTailing, type Tailing } from '../log/tailing';
import { wholeNumber } from '../option-values';
import { printJson, printLine } from '../print';
import type { ShownEntry } from '../source/log-source';
import { type SourceOptions, withSource } from '../source/options';
import { withSources } from '../source/with-sources';
import type { Tool } from '../tool';

interface Options extends SourceOptions, FilterOptions {
  readonly lines: number;
  readonly follow?: boolean;
}

const ABOUT = `
With --follow a push is told when it is settled; one that stays queued for 3 seconds is told then
too. A database, or a service, that is away for a while is waited for.`;

/** `log tail`: the newest pushes, a line each, and with --follow those that come. */
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
    throw new CommandFailure('--follow has no end: leave --to out', EXIT_USAGE);
  }
  const timeZone = tool.settings.timeZone();
  const print = (view: ShownEntry) =>
    json ? printJson(tool.stdout, view) : printLine(tool.stdout, entryLine(view, timeZone));
  await withSources(tool, options, async ({ log }) => {
    const tailing = createTailing(log, filter, print, createSearchProgress(tool));
    if (options.follow) await follow(tailing, lines, tool);
    else await tailing.printNewest(lines);
  });
}

/** @throws CommandFailure when interrupted, which is its only end but for errors */
async function follow(tailing: Tailing, lines: number, { stderr }: Tool): Promise<void> {
  const stop = new AbortController();
  const interrupt = listenForInterrupt(
    () => stop.abort(),
    () => undefined,
  );
  const run = async () => {
    // In this order nothing that comes in between is lost.
    await tailing.begin();
    await tailing.printNewest(lines);
    await keepPolling(tailing.poll, stderr, stop.signal);
  };
  try {
    const running = run();
    // A poll that is under way is left behind, and fails when the connection is closed.
    running.catch(() => undefined);
    await Promise.race([running, once(stop.signal, 'abort')]);
  } finally {
    interrupt.dispose();
  }
  const signal = interrupt.signal();
  // Being interrupted is what it was waiting for: there is nothing to say.
  if (signal) throw new CommandFailure('', 128 + constants.signals[signal]);
}
