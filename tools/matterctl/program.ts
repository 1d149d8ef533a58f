/** The program: its commands, and how a run of it ends. */
import { Command } from 'commander';
import { addAudit } from './commands/audit';
import { addClientCreate } from './commands/client-create';
import { addClientEnable } from './commands/client-enable';
import { addClientLimit } from './commands/client-limit';
import { addClientList } from './commands/client-list';
import { addClientReseal } from './commands/client-reseal';
import { addClientRotate } from './commands/client-rotate';
import { addDoctor } from './commands/doctor';
import { addLogExport } from './commands/log-export';
import { addLogQuery } from './commands/log-query';
import { addLogResend } from './commands/log-resend';
import { addLogShow } from './commands/log-show';
import { addLogTail } from './commands/log-tail';
import { addMatterExport } from './commands/matter-export';
import { addMatterGet } from './commands/matter-get';
import { addMatterHistory } from './commands/matter-history';
import { addPush } from './commands/push';
import { addQueueOldest } from './commands/queue-oldest';
import { addQueuePartitions } from './commands/queue-partitions';
import { addQueuePause } from './commands/queue-pause';
import { addQueueStats } from './commands/queue-stats';
import { addReconcile } from './commands/reconcile';
import { addStatus } from './commands/status';
import { addUserImport } from './commands/user-import';
import { addUserList } from './commands/user-list';
import { explain } from './failure';
import { escapeUnprintable } from './print';
import type { Tool } from './tool';

/**
 * Runs one command line.
 *
 * @param args without node and script
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage, 128 + signal when interrupted
 */
export async function runMatterctl(args: readonly string[], tool: Tool): Promise<number> {
  try {
    await createProgram(tool).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    const { message, exitCode } = explain(error);
    if (message)
      tool.stderr.write(`matterctl: ${message.split('\n').map(escapeUnprintable).join('\n')}\n`);
    return exitCode;
  }
}

function createProgram(tool: Tool): Command {
  const program = new Command('matterctl')
    .description(
      'Operates a Matter Push service: clients, portal users, matters, pushes from a file',
    )
    .version(tool.settings.version)
    .exitOverride()
    .showHelpAfterError('(add --help for what is possible)')
    .configureOutput({
      writeOut: (text) => tool.stdout.write(text),
      writeErr: (text) => tool.stderr.write(text),
    });
  const client = program.command('client').description('the systems that may push');
  addClientCreate(client, tool);
  addClientList(client, tool);
  addClientEnable(client, tool);
  addClientLimit(client, tool);
  addClientRotate(client, tool);
  addClientReseal(client, tool);
  const user = program.command('user').description('the portal users that matters may name');
  addUserImport(user, tool);
  addUserList(user, tool);
  const matter = program.command('matter').description('the ledger, to read');
  addMatterGet(matter, tool);
  addMatterExport(matter, tool);
  addMatterHistory(matter, tool);
  const log = program.command('log').description('the push log: what became of every push');
  addLogQuery(log, tool);
  addLogShow(log, tool);
  addLogTail(log, tool);
  addLogExport(log, tool);
  addLogResend(log, tool);
  const queue = program
    .command('queue')
    .description('shows what waits; pauses and resumes clients');
  addQueueStats(queue, tool);
  addQueuePartitions(queue, tool);
  addQueueOldest(queue, tool);
  addQueuePause(queue, tool);
  addPush(program, tool);
  addReconcile(program, tool);
  addAudit(program, tool);
  addDoctor(program, tool);
  addStatus(program, tool);
  return program;
}
