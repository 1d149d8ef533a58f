import type { Command } from 'commander';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { withOperator } from '../option-values';
import { printJson, printLine } from '../print';
import type { Tool } from '../tool';
import { type ChangeOptions, withTrail } from '../with-trail';

interface Options extends ChangeOptions {
  readonly reason?: string;
}

/** `queue pause` and `queue resume`: what a client has queued is applied all the same. */
export function addQueuePause(parent: Command, tool: Tool): void {
  const pause = parent
    .command('pause')
    .description('answer the pushes of a client 503, within a second; its queries go on')
    .argument('<clientId>')
    .option('--reason <text>', 'told to the client, at most 200 characters');
  withOperator(pause).action((clientId: string, options: Options) =>
    setPaused({ clientId, paused: true }, options, tool),
  );
  const resume = parent
    .command('resume')
    .description('take the pushes of a paused client again, within a second')
    .argument('<clientId>');
  withOperator(resume).action((clientId: string, options: ChangeOptions) =>
    setPaused({ clientId, paused: false }, options, tool),
  );
}

async function setPaused(
  change: { readonly clientId: string; readonly paused: boolean },
  options: Options,
  tool: Tool,
): Promise<void> {
  const { clientId, paused } = change;
  const { reason } = options;
  const command = `queue ${paused ? 'pause' : 'resume'}`;
  const details = reason === undefined ? {} : { reason };
  const noted = { command, subject: clientId, clientId, details };
  await withTrail(tool, options, noted, async (connection) => {
    const { createClientAdmin } = await import('../../../src/storage/directory/client-admin.js');
    const admin = createClientAdmin(connection, createKeyRing([]), Date.now);
    return paused ? admin.pause(clientId, reason) : admin.resume(clientId);
  });
  const told = paused ? 'is paused: its pushes are answered 503' : 'may push';
  if (options.json) await printJson(tool.stdout, change);
  else await printLine(tool.stdout, `client ${clientId} ${told}`);
}
