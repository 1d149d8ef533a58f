import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import type { Connection } from 'mongoose';
import type { AuditDetails } from '../../../src/storage/audit';
import type { Erased } from '../../../src/storage/erase';
import { CommandFailure, explain, usageFailure } from '../failure';
import { toRequestId, withOperator } from '../option-values';
import { printFields, printJson, printLine } from '../print';
import { showProgress } from '../progress';
import type { Tool } from '../tool';
import { withMongo } from '../with-mongo';
import { type Change, type ChangeOptions, withTrail } from '../with-trail';

interface Options extends ChangeOptions {
  readonly user?: string;
  readonly request?: string;
  readonly dryRun?: boolean;
}

const ABOUT = `
--user erases a username from the past handlers of matters and from the changes, problems and warnings in the
push log, and deletes the stored bodies that contain it as a word. The user's "done" list in the portal loses
these matters. The user stays in the directory and among the parties of matters: these are data of other
systems, and their pushes change them. The command reads the whole push log and all stored bodies, in small
batches. After an error, run it again: it erases the remaining data.

--request deletes the stored body of one request. Its log entry stays, without the body. Retries and resends of the
request are requests of their own, with their own bodies: erase each of them.

What was erased cannot be restored. A request whose body is erased cannot be resent. The audit trail records the
counts, also of a run that failed, and of a username only its SHA-256. A backup still has the data: after a
restore, run the command again.

Exit code: 0 done, 1 failed, or no such body; 2 wrong usage.`;

/** `erase`: personal data that the ledger and the push log keep. */
export function addErase(program: Command, tool: Tool): void {
  const command = program
    .command('erase')
    .description('erase what is kept of a user, or the stored body of a request')
    .option('--user <username>', 'the login, exactly as it is')
    .option('--request <requestId>', 'as the caller was given it', toRequestId)
    .option('--dry-run', 'only count what would be erased')
    .addHelpText('after', ABOUT);
  withOperator(command).action((options: Options) => erase(options, tool));
}

async function erase(options: Options, tool: Tool): Promise<void> {
  const { user, request, dryRun = false, json } = options;
  if ((user === undefined) === (request === undefined) || user === '') {
    throw usageFailure('give --user or --request');
  }
  const run = (connection: Connection, recordResult?: RecordResult) =>
    user === undefined
      ? eraseRequest(connection, request ?? '', recordResult)
      : eraseName(connection, user, { recordResult, tool });
  const erased = dryRun
    ? await withMongo(tool, options, (connection) => run(connection))
    : await withTrail(tool, options, changeOf(options), run);
  const subject = user === undefined ? { request } : { user };
  if (json) await printJson(tool.stdout, { ...subject, dryRun, ...erased });
  else {
    await printLine(tool.stdout, dryRun ? 'would be erased:' : 'erased:');
    await printFields(tool.stdout, namedCounts(erased, user !== undefined));
  }
  if (request !== undefined && erased.bodies === 0) {
    throw new CommandFailure(`no body of ${request} is stored`);
  }
}

/** Reports the counts so far for the audit trail. In a dry run there is none. */
type RecordResult = (counts: AuditDetails) => void;

async function eraseName(
  connection: Connection,
  username: string,
  {
    recordResult,
    tool: { stderr },
  }: { readonly recordResult: RecordResult | undefined; readonly tool: Tool },
): Promise<Erased> {
  const { eraseUser } = await import('../../../src/storage/erase.js');
  let progress = { done: 0, note: '' };
  const hide = showProgress({
    ...{ stderr, total: undefined, things: 'documents' },
    state: () => progress,
  });
  const onProgress = (erased: Erased, done: number) => {
    recordResult?.({ ...erased });
    progress = { done, note: `${erased.matters + erased.entries + erased.bodies} found` };
  };
  return eraseUser(connection, username, { dryRun: !recordResult, onProgress })
    .catch((error) => {
      throw withoutName(error, username);
    })
    .finally(hide);
}

async function eraseRequest(
  connection: Connection,
  requestId: string,
  recordResult: RecordResult | undefined,
): Promise<Erased> {
  const { eraseBody } = await import('../../../src/storage/erase.js');
  const bodies = await eraseBody(connection, requestId, { dryRun: !recordResult });
  const erased = { matters: 0, entries: 0, bodies };
  recordResult?.(erased);
  return erased;
}

/** An error of the database can quote the command that failed, and the error is in the audit trail too. */
function withoutName(error: unknown, username: string): unknown {
  const { message = '', exitCode } = explain(error);
  if (!message.includes(username)) return error;
  return new CommandFailure(message.replaceAll(username, '***'), exitCode);
}

/** The audit trail is kept without limit, so it contains no name that was erased. */
function changeOf({ user, request }: Options): Change {
  const userHash = user && createHash('sha256').update(user).digest('hex');
  return { command: 'erase', subject: request ?? null, details: { userHash } };
}

function namedCounts({ matters, entries, bodies }: Erased, isUser: boolean) {
  const ofUser = { 'past handler of matters': matters, 'log entries': entries };
  return { ...(isUser && ofUser), 'stored bodies': bodies };
}
