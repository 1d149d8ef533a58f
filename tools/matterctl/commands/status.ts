import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ServiceStatus } from '../../../src/status/status';
import { CommandFailure } from '../failure';
import { exitCodeOf, listenForInterrupt } from '../interrupt';
import { withDatabase } from '../option-values';
import { clearScreen, printJson, printLine, printLines } from '../print';
import { screenOf } from '../status/screen';
import type { Tool } from '../tool';
import { type DatabaseOptions, serverOf } from '../with-mongo';

interface Options extends DatabaseOptions {
  readonly watch?: boolean;
}

/** Milliseconds between two reads with --watch. */
const INTERVAL = 2_000;

const ABOUT = `
The state of a process comes from its heartbeat. A process that died, is stopped or has lost Redis is SILENT, and
disappears after ten minutes. The counts of pushes cover the last five minutes. If a server is unavailable, its
part of the screen is empty, and the command continues.

Exit code: 0 both servers answer, 1 one of them does not, 2 wrong usage.`;

/** `status` prints the state of the service on one screen. */
export function addStatus(program: Command, tool: Tool): void {
  const command = program
    .command('status')
    .description('show servers, processes, partitions, pushes, clients and pushes to resend')
    .option('-w, --watch', 'refresh every 2 s, until interrupted')
    .addHelpText('after', ABOUT);
  withDatabase(command).action((options: Options) => showStatus(options, tool));
}

async function showStatus(options: Options, tool: Tool): Promise<void> {
  const { settings } = tool;
  const timeZone = settings.timeZone();
  const { readStatus } = await import('../../../src/status/status.js');
  const { MongoStatusReader } = await import('../../../src/status/mongo-status.js');
  const { openRedisStatus } = await import('../status/open-redis-status.js');
  const mongo = new MongoStatusReader(serverOf(tool, options).url);
  const redis = openRedisStatus(settings.queue());
  const look = () => readStatus(mongo, redis);
  const print = (status: ServiceStatus) =>
    options.json
      ? printJson(tool.stdout, status)
      : printLines(tool.stdout, screenOf(status, timeZone).split('\n'));
  try {
    if (options.watch) await watch(look, print, { ...tool, isPlain: options.json ?? false });
    else {
      const status = await look();
      await print(status);
      // The screen has shown the error.
      if (status.servers.some(({ isReachable }) => !isReachable)) throw new CommandFailure('');
    }
  } finally {
    await Promise.all([mongo.close(), redis.close()]);
  }
}

/** Prints until it is interrupted. @throws CommandFailure when it is interrupted */
async function watch(
  look: () => Promise<ServiceStatus>,
  print: (status: ServiceStatus) => Promise<void>,
  { stdout, isPlain }: Pick<Tool, 'stdout'> & { readonly isPlain: boolean },
): Promise<void> {
  const stop = new AbortController();
  const interrupt = listenForInterrupt(
    () => stop.abort(),
    () => undefined,
  );
  const isTerminal = 'isTTY' in stdout && stdout.isTTY === true && !isPlain;
  try {
    while (!stop.signal.aborted) {
      // A running read is not awaited.
      const [status] = await Promise.race([once(stop.signal, 'abort'), Promise.all([look()])]);
      if (stop.signal.aborted) break;
      if (isTerminal) await clearScreen(stdout);
      await print(status);
      if (!isTerminal && !isPlain) await printLine(stdout, '');
      // The sleep rejects only if it is stopped, and then the loop ends.
      await sleep(INTERVAL, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  } finally {
    interrupt.dispose();
  }
  const signal = interrupt.signal();
  // No message, because the interrupt is the normal end of this command.
  if (signal) throw new CommandFailure('', exitCodeOf(signal));
}
