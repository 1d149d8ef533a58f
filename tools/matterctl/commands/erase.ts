import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import type { Connection } from 'mongoose';
import type { Erased } from '../../../src/storage/erase';
import { CommandFailure, EXIT_USAGE } from '../failure';
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
--user erases a username from the past handlers of matters and from the logged changes, and deletes the stored
bodies that contain it as a word. The user's "done" list in the portal loses these matters. The user stays in
the directory and among the parties of matters: these are data of other systems, and their pushes change them.
The command reads the whole push log and all stored bodies.

--request deletes the stored body of one request. Its log entry stays, without the body.

What was erased cannot be restored. A push whose body is erased cannot be resent. The audit trail records the
counts, and of a username only its SHA-256.

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
    throw new CommandFailure('give --user or --request', EXIT_USAGE);
  }
  const run = (connection: Connection) =>
    user === undefined
      ? eraseRequest(connection, request ?? '', dryRun)
      : eraseName(connection, user, dryRun, tool);
  const erased = dryRun
    ? await withMongo(tool, options, run)
    : await withTrail(tool, options, changeOf(options), async (connection, tell) => {
        const counts = await run(connection);
        tell({ ...counts });
        return counts;
      });
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

async function eraseName(
  connection: Connection,
  username: string,
  dryRun: boolean,
  { stderr }: Tool,
): Promise<Erased> {
  const { eraseUser } = await import('../../../src/storage/erase.js');
  let done = 0;
  const hide = showProgress({
    ...{ stderr, total: undefined, things: 'bodies' },
    state: () => ({ done, note: '' }),
  });
  const onProgress = (searched: number) => {
    done = searched;
  };
  return eraseUser(connection, username, { dryRun, onProgress }).finally(hide);
}

async function eraseRequest(
  connection: Connection,
  requestId: string,
  dryRun: boolean,
): Promise<Erased> {
  const { eraseBody } = await import('../../../src/storage/erase.js');
  return { matters: 0, entries: 0, bodies: await eraseBody(connection, requestId, { dryRun }) };
}

/** The audit trail is kept without limit, so it contains no name that was erased. */
function changeOf({ user, request }: Options): Change {
  const userHash = user && createHash('sha256').update(user).digest('hex');
  return { command: 'erase', subject: request ?? null, details: { userHash } };
}

function namedCounts({ matters, entries, bodies }: Erased, isUser: boolean) {
  const ofUser = { 'past handler of matters': matters, 'log entries with changes': entries };
  return { ...(isUser && ofUser), 'stored bodies': bodies };
}
