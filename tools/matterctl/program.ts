/** Defines all commands of `matterctl`, runs a command line, and determines its exit code. */
import { Command } from 'commander';
import { addAudit } from './commands/audit';
import { addClientConsole } from './commands/client-console';
import { addClientCreate } from './commands/client-create';
import { addClientEnable } from './commands/client-enable';
import { addClientLimit } from './commands/client-limit';
import { addClientList } from './commands/client-list';
import { addClientReseal } from './commands/client-reseal';
import { addClientRevoke } from './commands/client-revoke';
import { addClientRotate } from './commands/client-rotate';
import { addDoctor } from './commands/doctor';
import { addErase } from './commands/erase';
import { addLogExport } from './commands/log-export';
import { addLogQuery } from './commands/log-query';
import { addLogReport } from './commands/log-report';
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
import { addQueueUnpause } from './commands/queue-unpause';
import { addReconcile } from './commands/reconcile';
import { addStatus } from './commands/status';
import { addUserEnable } from './commands/user-enable';
import { addUserImport } from './commands/user-import';
import { addUserList } from './commands/user-list';
import { explain } from './failure';
import { maskAddresses } from './mask';
import { note, writeText } from './print';
import type { Tool } from './tool';

/**
 * Runs one command line.
 *
 * @param args the arguments, without the paths of node and the script
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage, 128 + signal when interrupted
 */
export async function runMatterctl(args: readonly string[], tool: Tool): Promise<number> {
  try {
    await createProgram(tool).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    const { message, exitCode } = explain(error);
    if (message) printError(tool, message);
    return exitCode;
  }
}

/**
 * A message of several lines contains a stack. Its lines are indented, so that they do not look like other messages.
 */
function printError({ stderr }: Tool, message: string): void {
  const [first = '', ...stack] = maskAddresses(message).split('\n');
  note(stderr, `matterctl: ${first}`);
  for (const line of stack) note(stderr, `    ${line.trimStart()}`);
}

type Add = (parent: Command, tool: Tool) => void;

/** Commands with two words, in the order of the help. */
const GROUPS: readonly (readonly [name: string, description: string, commands: readonly Add[]])[] =
  [
    [
      'client',
      'the systems that may push',
      [
        addClientCreate,
        addClientList,
        addClientEnable,
        addClientLimit,
        addClientRotate,
        addClientReseal,
        addClientConsole,
        addClientRevoke,
      ],
    ],
    ['user', 'the portal users that matters may name', [addUserImport, addUserEnable, addUserList]],
    ['matter', 'the ledger, to read', [addMatterGet, addMatterExport, addMatterHistory]],
    [
      'log',
      'the push log: what became of every push',
      [addLogQuery, addLogShow, addLogTail, addLogExport, addLogReport, addLogResend],
    ],
    [
      'queue',
      'shows what waits; pauses and resumes clients',
      [addQueueStats, addQueuePartitions, addQueueOldest, addQueuePause, addQueueUnpause],
    ],
  ];
/** Commands with one word, which follow in the help. */
const COMMANDS: readonly Add[] = [addPush, addReconcile, addErase, addAudit, addDoctor, addStatus];

function createProgram(tool: Tool): Command {
  const program = new Command('matterctl')
    .description(
      'Operates a Matter Push service: clients, portal users, matters, pushes from a file',
    )
    .version(tool.settings.version)
    .exitOverride()
    .showHelpAfterError('(add --help for what is possible)')
    .configureOutput({
      writeOut: (text) => writeText(tool.stdout, text),
      // An error repeats what was typed, and an address in it may contain a key.
      writeErr: (text) => writeText(tool.stderr, maskAddresses(text)),
    });
  for (const [name, description, commands] of GROUPS) {
    const group = program.command(name).description(description);
    for (const add of commands) add(group, tool);
  }
  for (const add of COMMANDS) add(program, tool);
  return program;
}
