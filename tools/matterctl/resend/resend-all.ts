/** Selects pushes of the log, and sends them again, or shows in a dry run what that would change. */
import type { Connection } from 'mongoose';
import { type Planned, selectPushes } from '../../../src/pushes/resend';
import {
  createBodies,
  createFindMended,
  createLogLookups,
  createLogSearch,
  type LogFilter,
} from '../../../src/storage/push-log';
import { CommandFailure } from '../failure';
import { exitCodeOf, listenForInterrupt } from '../interrupt';
import { showProgress } from '../progress';
import { upTo } from '../streams';
import type { Tool } from '../tool';
import { operatorOf } from '../with-trail';
import { openDryRun, withResend } from './open-resend';
import type { ResendReport } from './report';
import { runResend } from './run-resend';

export interface ResendOptions {
  /** True: sends the pushes. Otherwise it is a dry run. */
  readonly apply?: boolean;
  /** True: also selects pushes that were resent before. */
  readonly again?: boolean;
  /** Maximum entries to check. */
  readonly limit: number;
  /** Maximum concurrent pushes. */
  readonly concurrency: number;
  readonly operator?: string;
}

export interface Resending {
  readonly connection: Connection;
  readonly report: ResendReport;
  readonly tool: Tool;
  readonly options: ResendOptions;
}

/**
 * Resends the pushes that match a filter.
 *
 * @throws CommandFailure with exit code 128 + signal if it was interrupted; the error of the database or the queue if
 *   it remains unavailable
 */
export async function resendAll(run: Resending, filter: LogFilter): Promise<void> {
  const { connection, report, tool, options } = run;
  const entries = createLogSearch(connection).all(filter, { oldestFirst: true });
  const selected = selectPushes(
    upTo(options.limit, entries, () => report.cutOff()),
    {
      bodies: createBodies(connection),
      lookups: createLogLookups(connection),
      findMended: createFindMended(connection, 'pending'),
      again: options.again ?? false,
      byId: filter.requestId !== undefined,
    },
  );
  const hideProgress = showProgress({
    stderr: tool.stderr,
    total: undefined,
    things: 'pushes',
    state: () => report.progress(),
  });
  const work = options.apply ? apply : preview;
  await work(selected, run).finally(hideProgress);
}

async function preview(selected: AsyncIterable<Planned>, run: Resending): Promise<void> {
  const { connection, report, tool } = run;
  const dryRun = openDryRun(connection, tool.settings);
  for await (const one of selected) {
    if (one.kind === 'push') await report.previewed(await dryRun.preview(one.push));
    else await report.skipped(one);
  }
}

/** @throws CommandFailure with exit code 128 + signal if it was interrupted */
async function apply(selected: AsyncIterable<Planned>, run: Resending): Promise<void> {
  const { connection, report, tool, options } = run;
  const stop = new AbortController();
  const interrupt = listenForInterrupt(
    () => stop.abort(),
    () => process.exit(exitCodeOf('SIGINT')),
  );
  const { again = false } = options;
  const joining = { settings: tool.settings, by: operatorOf(options), again };
  await withResend(connection, joining, (resendOne) =>
    runResend(selected, resendOne, {
      concurrency: options.concurrency,
      stop,
      onDone: (push) => report.sent(push),
      onSkipped: (skipped) => report.skipped(skipped),
    }),
  ).finally(interrupt.dispose);
  const signal = interrupt.signal();
  if (signal) {
    throw new CommandFailure(
      'interrupted; the same command goes on: what was sent is left out',
      exitCodeOf(signal),
    );
  }
}
