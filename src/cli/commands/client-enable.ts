import type { Command } from 'commander';
import { createClientAdmin } from '../../directory/client-admin';
import { createKeyRing } from '../../directory/sealing';
import { withDatabase } from '../option-values';
import { printJson, printLine } from '../print';
import type { Tool } from '../tool';
import { type DatabaseOptions, withMongo } from '../with-mongo';

/** `client enable` and `client disable`; a disabled client keeps its secrets. */
export function addClientEnable(parent: Command, tool: Tool): void {
  const add = (verb: 'enable' | 'disable', description: string) =>
    withDatabase(parent.command(verb).description(description).argument('<clientId>')).action(
      (clientId: string, options: DatabaseOptions) =>
        setEnabled({ clientId, enabled: verb === 'enable' }, options, tool),
    );
  add('enable', 'let a client push again');
  add('disable', 'refuse all pushes of a client, within a second');
}

async function setEnabled(
  change: { readonly clientId: string; readonly enabled: boolean },
  options: DatabaseOptions,
  tool: Tool,
): Promise<void> {
  await withMongo(tool, options, (connection) =>
    createClientAdmin(connection, createKeyRing([]), Date.now).setEnabled(
      change.clientId,
      change.enabled,
    ),
  );
  const state = change.enabled ? 'enabled' : 'disabled';
  if (options.json) await printJson(tool.stdout, change);
  else await printLine(tool.stdout, `client ${change.clientId} is ${state}`);
}
