import type { Command } from 'commander';
import type { ClientView } from '../../../src/storage/directory/client-admin';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { withDatabase } from '../option-values';
import { type Cell, printJson, printTable } from '../print';
import type { Tool } from '../tool';
import { type DatabaseOptions, withMongo } from '../with-mongo';
import { limitText } from './client-limit';

const HEAD = ['CLIENT', 'SYSTEM', 'TYPE', 'STATE', 'LIMIT', 'SECRETS', 'QUERY KEYS', 'CREATED'];

/** `client list`: which secrets and query keys a client has and when they were used last, never the secrets. */
export function addClientList(parent: Command, tool: Tool): void {
  withDatabase(parent.command('list').description('list the clients')).action(
    async (options: DatabaseOptions) => {
      const { createClientAdmin } = await import('../../../src/storage/directory/client-admin.js');
      const clients = await withMongo(tool, options, (connection) =>
        createClientAdmin(connection, createKeyRing([]), Date.now).list(),
      );
      if (options.json) await printJson(tool.stdout, clients);
      else await printTable(tool.stdout, HEAD, clients.map(toRow));
    },
  );
}

function toRow(client: ClientView): Cell[] {
  const { clientId, systemCode, type, limit, secrets, queryKeys, createdAt } = client;
  const shown = [secrets.map(secretText), queryKeys.map(keyText)].map((all) => all.join(', '));
  const state = stateOf(client);
  return [clientId, systemCode, type, state, limitText(limit), ...shown, iso(createdAt)];
}

function stateOf({ enabled, paused }: ClientView): string {
  const state = enabled ? 'enabled' : 'disabled';
  if (!paused) return state;
  const { since, reason } = paused;
  return `${state}, paused since ${iso(since)}${reason === undefined ? '' : ` (${reason})`}`;
}

function secretText({ id, expiresAt, lastUsedAt }: ClientView['secrets'][number]): string {
  const used = lastUsedAt ? `used ${iso(lastUsedAt)}` : 'not used';
  if (!expiresAt) return `${id} (${used})`;
  const end = expiresAt.getTime() > Date.now() ? 'until' : 'ended';
  return `${id} (${end} ${iso(expiresAt)}, ${used})`;
}

function keyText({ id, expiresAt, revoked, mayPush, lastUsedAt }: ClientView['queryKeys'][number]) {
  const used = lastUsedAt ? `used ${iso(lastUsedAt)}` : 'not used';
  const ended = revoked ? 'revoked' : 'ended';
  const end = expiresAt.getTime() > Date.now() ? 'until' : ended;
  return `${id} (${mayPush ? 'may push, ' : ''}${end} ${iso(expiresAt)}, ${used})`;
}

const iso = (date: Date) => date.toISOString();
