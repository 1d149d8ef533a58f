import type { Command } from 'commander';
import { type ClientView, createClientAdmin } from '../../directory/client-admin';
import { createKeyRing } from '../../directory/sealing';
import { withDatabase } from '../option-values';
import { type Cell, printJson, printTable } from '../print';
import type { Tool } from '../tool';
import { type DatabaseOptions, withMongo } from '../with-mongo';

const HEAD = ['CLIENT', 'SYSTEM', 'TYPE', 'STATE', 'SECRETS', 'CREATED'];

/** `client list`: which secrets a client has, never the secrets. */
export function addClientList(parent: Command, tool: Tool): void {
  withDatabase(parent.command('list').description('list the clients')).action(
    async (options: DatabaseOptions) => {
      const clients = await withMongo(tool, options, (connection) =>
        createClientAdmin(connection, createKeyRing([]), Date.now).list(),
      );
      if (options.json) await printJson(tool.stdout, clients);
      else await printTable(tool.stdout, HEAD, clients.map(toRow));
    },
  );
}

function toRow({ clientId, systemCode, type, enabled, secrets, createdAt }: ClientView): Cell[] {
  const state = enabled ? 'enabled' : 'disabled';
  const shown = secrets.map(({ id, expiresAt }) =>
    expiresAt
      ? `${id} (${expiresAt.getTime() > Date.now() ? 'until' : 'ended'} ${iso(expiresAt)})`
      : id,
  );
  return [clientId, systemCode, type, state, shown.join(', '), iso(createdAt)];
}

const iso = (date: Date) => date.toISOString();
