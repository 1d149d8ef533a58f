import type { Command } from 'commander';
import type { ClientView } from '../../../src/storage/directory';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { localTime } from '../local-time';
import { withDatabase } from '../option-values';
import { type Cell, cut, printJson, printLines, printTable } from '../print';
import type { Tool } from '../tool';
import { type DatabaseOptions, withMongo } from '../with-mongo';
import { limitText } from './client-limit';

const HEAD = ['CLIENT', 'SYSTEM', 'TYPE', 'STATE', 'LIMIT', 'CREATED'];
const KEYS_HEAD = ['CLIENT', 'KEY', 'MAY', 'ENDS', 'LAST USED'];
/** Widths of the columns: a row has at most 119 characters. --json shows whole names. */
const WIDTH = 120;
const CLIENT = 28;
const SYSTEM = 18;

/**
 * `client list` prints clients, the ids of their secrets and query keys, and their last uses. It never prints a secret.
 */
export function addClientList(parent: Command, tool: Tool): void {
  withDatabase(parent.command('list').description('list the clients')).action(
    async (options: DatabaseOptions) => {
      const { createClientAdmin } = await import('../../../src/storage/directory.js');
      const clients = await withMongo(tool, options, (connection) =>
        createClientAdmin(connection, createKeyRing([]), Date.now).list(),
      );
      if (options.json) await printJson(tool.stdout, clients);
      else await printClients(tool, clients);
    },
  );
}

async function printClients(
  { stdout, settings }: Tool,
  clients: readonly ClientView[],
): Promise<void> {
  const timeZone = settings.timeZone();
  const time = (date: Date) => localTime(date.getTime(), timeZone).slice(0, 16);
  await printTable(
    stdout,
    HEAD,
    clients.map((client) => toRow(client, time)),
  );
  const pauses = clients.flatMap((client) => pauseLine(client, time));
  if (pauses.length > 0) await printLines(stdout, ['', ...pauses]);
  const keys = clients.flatMap((client) => keyRows(client, time));
  if (keys.length > 0) {
    await printLines(stdout, ['']);
    await printTable(stdout, KEYS_HEAD, keys);
  }
  await printLines(stdout, ['', `All times: ${timeZone}`]);
}

type ToTime = (date: Date) => string;

function toRow(client: ClientView, time: ToTime): Cell[] {
  const { clientId, systemCode, type, enabled, paused, limit, createdAt } = client;
  const state = !enabled ? 'disabled' : paused ? 'paused' : 'enabled';
  const system = systemCode && cut(systemCode, SYSTEM);
  return [cut(clientId, CLIENT), system, type, state, limitText(limit), time(createdAt)];
}

function pauseLine({ clientId, paused }: ClientView, time: ToTime): string[] {
  if (!paused) return [];
  const { since, reason } = paused;
  return [cut(`${clientId} is paused since ${time(since)}${reason ? `: ${reason}` : ''}`, WIDTH)];
}

/** The secrets of a client, then its query keys. */
function keyRows({ clientId, secrets, queryKeys }: ClientView, time: ToTime): Cell[][] {
  const client = cut(clientId, CLIENT);
  const used = (date: Date | null | undefined) => (date ? time(date) : 'not used');
  return [
    ...secrets.map(({ id, expiresAt, lastUsedAt }): Cell[] => {
      const ends = expiresAt ? endText(expiresAt, time) : null;
      return [client, id, 'push, query', ends, used(lastUsedAt)];
    }),
    ...queryKeys.map(({ id, expiresAt, revoked, mayPush, noBodies, lastUsedAt }): Cell[] => {
      const ends = revoked ? 'revoked' : endText(expiresAt, time);
      const may = `${mayPush ? 'push, query' : 'query'}${noBodies ? ', no bodies' : ''}`;
      return [client, id, may, ends, used(lastUsedAt)];
    }),
  ];
}

const endText = (at: Date, time: ToTime) =>
  at.getTime() > Date.now() ? time(at) : `ended ${time(at)}`;
