import type { Command } from 'commander';
import { withDatabase } from '../option-values';
import { printJson, printTable } from '../print';
import type { Tool } from '../tool';
import { type DatabaseOptions, withMongo } from '../with-mongo';

/** `user list` prints all users. */
export function addUserList(parent: Command, tool: Tool): void {
  withDatabase(parent.command('list').description('list the portal users')).action(
    async (options: DatabaseOptions) => {
      const { listUsers } = await import('../../../src/storage/directory.js');
      const records = await withMongo(tool, options, listUsers);
      const users = records.map(({ _id, ...rest }) => ({ username: _id, ...rest }));
      if (options.json) await printJson(tool.stdout, users);
      else {
        const rows = users.map(({ username, displayName, enabled }) => [
          username,
          displayName,
          enabled ? 'enabled' : 'disabled',
        ]);
        await printTable(tool.stdout, ['USERNAME', 'NAME', 'STATE'], rows);
      }
    },
  );
}
