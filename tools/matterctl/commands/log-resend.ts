import type { Command } from 'commander';
import type { Connection } from 'mongoose';
import type { AuditDetails } from '../../../src/storage/audit';
import type { LogFilter } from '../../../src/storage/push-log';
import { CommandFailure, usageFailure } from '../failure';
import { type FilterOptions, toLogFilter, withLogFilters } from '../log/filter-options';
import { wholeNumber, withOperator } from '../option-values';
import { printJson, printLines } from '../print';
import type { ResendSummary } from '../resend/report';
import type { ResendOptions } from '../resend/resend-all';
import type { Tool } from '../tool';
import { withMongo } from '../with-mongo';
import { type Change, type ChangeOptions, withTrail } from '../with-trail';

type Options = ChangeOptions & FilterOptions & ResendOptions;

const ABOUT = `
Without --apply, the command sends nothing. It reports the number of pushes and what they would change in the
current ledger. With --apply, the pushes go through the queue like all pushes, in their order for each matter. Each has
a log entry with the push that it resends (resentFrom). A push that is older than the ledger is ignored as
stale. A push that took effect is applied again. A failed push is left out if a later push of its matter, or a
retry with the same idempotency key, took effect.

The command never sends pushes with a wrong signature or from an unknown client, and no retries that got the first
outcome. It sends pushes that were resent before, or that a later push resolved, only with --again. It reads
bodies with its own settings: PORTAL_TIME_ZONE and CONCLUDED_STATUSES must be those of the service. Give at least
one of --from, --request-id, --external-id and --key.

Exit code: 0 all were accepted (or dry run), 1 some were rejected, 2 wrong usage.`;

/** `log resend` sends logged pushes again. Without --apply, it is a dry run. */
export function addLogResend(parent: Command, tool: Tool): void {
  const command = withLogFilters(
    parent.command('resend').description('send logged pushes again; without --apply a dry run'),
    tool,
  )
    .option('--apply', 'send the pushes')
    .option('--again', 'also pushes that were resent before, or that a later push resolved')
    .option('--limit <n>', 'maximum entries to examine', wholeNumber(1, 1_000_000), 10_000)
    .option('--concurrency <n>', 'parallel pushes', wholeNumber(1, 256), 16)
    .addHelpText('after', ABOUT);
  withOperator(command).action((options: Options) => resend(options, tool));
}

async function resend(options: Options, tool: Tool): Promise<void> {
  const { limit } = options;
  // Resent pushes have new entries in the log, so the selection ends at the current time.
  const { to = Date.now(), ...narrowed } = toLogFilter(options);
  const { from, requestId, batchId, externalId, idempotencyKey } = narrowed;
  if (
    [from, requestId, batchId, externalId, idempotencyKey].every((value) => value === undefined)
  ) {
    throw usageFailure(
      'the whole log is never sent again: give --from, --request-id, --batch, --external-id or --key',
    );
  }
  const filter = { ...narrowed, to };
  const { ResendReport } = await import('../resend/report.js');
  const { resendAll } = await import('../resend/resend-all.js');
  const report = new ResendReport(tool, { timeZone: tool.settings.timeZone(), ...options });
  const run = (connection: Connection) => resendAll({ connection, report, tool, options }, filter);
  const change = resendChange(filter, { again: options.again, limit });
  const runRecorded = () =>
    withTrail(tool, options, change, async (connection, recordResult) => {
      await run(connection).finally(() => recordResult(resendResult(report.summary())));
      const { rejected } = report.summary();
      if (rejected > 0) throw new CommandFailure(`${rejected} pushes were rejected`);
    });
  const done = options.apply ? runRecorded() : withMongo(tool, options, run);
  await done.finally(async () => {
    // Also if the run ended early, because some pushes were sent.
    if (options.json) await printJson(tool.stdout, { summary: report.summary() });
    else await printLines(tool.stdout, report.describe());
  });
}

/** The audit entry of a resend: the selection. @param options options that, with the filter, determine what is sent */
function resendChange({ from, to, ...filter }: LogFilter, options: AuditDetails): Change {
  const { clientId, requestId, batchId, externalId, systemCode } = filter;
  return {
    command: 'log resend',
    subject: requestId ?? batchId ?? externalId ?? clientId ?? systemCode ?? null,
    ...(clientId !== undefined && { clientId }),
    details: { ...filter, from: iso(from), to: iso(to), ...options },
  };
}

/** The result in the audit entry. The push log has each resent push with its operator. */
function resendResult({ pushes, matters, rejected, results }: ResendSummary): AuditDetails {
  return { pushes, matters, rejected, results };
}

const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());
