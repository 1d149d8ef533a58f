/** Makes one report: reads it, prints it, posts it, and judges it, within the time of the command. */
import type { Language } from '../../../src/protocol/language';
import type { MatterPushClient } from '../../client/matter-push-client';
import { readSecretFile } from '../client-secret';
import { CommandFailure, EXIT_USAGE, explain } from '../failure';
import { maskKeysOf } from '../mask';
import { note, printLines } from '../print';
import { asClient } from '../source/with-sources';
import type { Tool } from '../tool';
import { noReportLines, type ReportFormat, reportLines } from './formats';
import { POST_TIMEOUT, postReport } from './post';
import type { PostTarget } from './post-options';
import { type PushReport, readReport } from './read-report';
import { type AskedTimes, windowIn } from './windows';

export interface ReportJob {
  /** URL of the service. */
  readonly url: string;
  /** URL at which people reach the service. */
  readonly publicUrl: string;
  readonly clientId: string;
  readonly secretFile: string;
  readonly times: AskedTimes;
  readonly format: ReportFormat;
  readonly language: Language;
  readonly target: PostTarget | undefined;
  /** Milliseconds for everything. */
  readonly timeout: number;
}

/** The share of the time that is kept to post the report, or why there is none. */
const POST_SHARE = 0.2;

/** @throws CommandFailure if the report could not be made or posted, or if it names failures */
export async function runReport(job: ReportJob, tool: Tool): Promise<void> {
  const { format, language } = job;
  const end = performance.now() + job.timeout;
  const report = await readInTime(job).catch((error) => giveUp(error, job, { tool, end }));
  const lines = reportLines(report, { format, language });
  // The post comes first: a reader of the output that has stopped must not delay or prevent it.
  try {
    await postLines(lines, job, { tool, end });
  } finally {
    await printLines(tool.stdout, lines);
  }
  const problems = problemsOf(report);
  if (problems.length > 0) throw new CommandFailure(problems.join('; '));
}

/** @throws CommandFailure if the service rejects a query, cannot be reached, or is too slow */
async function readInTime(job: ReportJob): Promise<PushReport> {
  const { url, publicUrl, clientId, times, target, timeout } = job;
  const secret = await readSecretFile(job.secretFile);
  const reserve = target ? Math.min(POST_TIMEOUT, timeout * POST_SHARE) : 0;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeout - reserve);
  try {
    return await asClient({ url, clientId, secret }, async (client) => {
      const query: MatterPushClient['query'] = (name, body) =>
        client.query(name, body, { signal: late.signal });
      const { systemCode, timeZone } = await query('clients/me', {});
      const window = windowIn(timeZone, times);
      return readReport({ query }, { window, systemCode, timeZone, publicUrl });
    });
  } catch (error) {
    if (!late.signal.aborted) throw error;
    throw new CommandFailure(`the service at ${url} did not answer all queries in time`);
  } finally {
    clearTimeout(timer);
  }
}

interface Ending {
  readonly tool: Tool;
  /** Milliseconds of `performance.now` at which the time of the command ends. */
  readonly end: number;
}

/** Posts why there is no report: a group that gets no message may believe that nothing failed. */
async function giveUp(error: unknown, job: ReportJob, ending: Ending): Promise<never> {
  const { exitCode, message = '' } = explain(error);
  // The person who typed the command sees wrong usage.
  if (!job.target || exitCode === EXIT_USAGE) throw error;
  const [first = ''] = message.split('\n');
  const { clientId, publicUrl, format, language } = job;
  const cause = maskKeysOf(job.target.url, first);
  const lines = noReportLines({ clientId, cause, publicUrl }, { format, language });
  await postLines(lines, job, ending).catch((failed) => {
    throw new CommandFailure(`${first}; ${explain(failed).message}`, exitCode);
  });
  throw error;
}

async function postLines(
  lines: readonly string[],
  { target, format }: ReportJob,
  { tool, end }: Ending,
): Promise<void> {
  if (!target) return;
  const timeout = Math.min(POST_TIMEOUT, Math.max(end - performance.now(), 1));
  await postReport({ ...target, format, text: lines.join('\n') }, timeout);
  note(tool.stderr, `posted to ${new URL(target.url).origin}`);
}

/** The failures of a report, and what it cannot know. A report without them is good news. */
function problemsOf(report: PushReport): string[] {
  const { open, unauthenticated, refusedBatches, notRecorded, complete } = report;
  const problems: string[] = [];
  const add = (count: number, one: string, many: string) => {
    if (count > 0) problems.push(`${count} ${count === 1 ? one : many}`);
  };
  add(open, 'matter has an open failure', 'matters have an open failure');
  const rejected = 'rejected for signature, time or secret';
  add(unauthenticated, `push was ${rejected}`, `pushes were ${rejected}`);
  add(refusedBatches, 'batch was rejected as a whole', 'batches were rejected as a whole');
  const unlogged = 'no entry in the log';
  add(notRecorded, `failed push has ${unlogged}`, `failed pushes have ${unlogged}`);
  if (!complete) problems.push('the service could not count all pushes');
  return problems;
}
