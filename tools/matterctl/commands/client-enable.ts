import type { Command } from 'commander';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { withOperator } from '../option-values';
import { printJson, printLine } from '../print';
import type { Tool } from '../tool';
import { type ChangeOptions, withTrail } from '../with-trail';

/** `client enable` and `client disable`. A disabled client keeps its secrets. */
export function addClientEnable(parent: Command, tool: Tool): void {
  const add = (verb: 'enable' | 'disable', description: string) =>
    withOperator(parent.command(verb).description(description).argument('<clientId>')).action(
      (clientId: string, options: ChangeOptions) =>
        setEnabled({ clientId, enabled: verb === 'enable' }, options, tool),
    );
  add('enable', 'let a client push again');
  add('disable', 'reject all pushes of a client, within a second');
}

async function setEnabled(
  setting: { readonly clientId: string; readonly enabled: boolean },
  options: ChangeOptions,
  tool: Tool,
): Promise<void> {
  const { clientId, enabled } = setting;
  const command = `client ${enabled ? 'enable' : 'disable'}`;
  const change = { command, subject: clientId, clientId, details: {} };
  const { createClientAdmin } = await import('../../../src/storage/directory.js');
  await withTrail(tool, options, change, (connection) =>
    createClientAdmin(connection, createKeyRing([]), Date.now).setEnabled(clientId, enabled),
  );
  if (options.json) await printJson(tool.stdout, setting);
  else await printLine(tool.stdout, `client ${clientId} is ${enabled ? 'enabled' : 'disabled'}`);
}
