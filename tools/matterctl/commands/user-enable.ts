import type { Command } from 'commander';
import { withOperator } from '../option-values';
import { printJson, printLine } from '../print';
import type { Tool } from '../tool';
import { type ChangeOptions, withTrail } from '../with-trail';

/** `user enable` and `user disable` change all of the users, or none if one is unknown. */
export function addUserEnable(parent: Command, tool: Tool): void {
  const add = (verb: 'enable' | 'disable', description: string) => {
    const command = parent
      .command(verb)
      .description(description)
      .argument('<username...>', 'logins, exactly as they are');
    withOperator(command).action((usernames: string[], options: ChangeOptions) =>
      setEnabled([...new Set(usernames)], verb === 'enable', options, tool),
    );
  };
  add('enable', 'allow pushes to name these users again; takes effect within seconds');
  add(
    'disable',
    'reject pushes that name these users; takes effect within seconds, and their matters stay',
  );
}

/** Maximum users that the audit trail lists. */
const MAX_RECORDED = 100;

async function setEnabled(
  usernames: readonly string[],
  enabled: boolean,
  options: ChangeOptions,
  tool: Tool,
): Promise<void> {
  const command = `user ${enabled ? 'enable' : 'disable'}`;
  const details = { users: usernames.length, usernames: usernames.slice(0, MAX_RECORDED) };
  const subject = usernames.length === 1 ? (usernames[0] ?? null) : null;
  const { setUsersEnabled } = await import('../../../src/storage/directory.js');
  const changed = await withTrail(
    tool,
    options,
    { command, subject, details },
    async (connection, recordResult) => {
      const count = await setUsersEnabled(connection, usernames, enabled);
      recordResult({ changed: count });
      return count;
    },
  );
  if (options.json) await printJson(tool.stdout, { usernames, enabled, changed });
  else {
    const state = enabled ? 'enabled' : 'disabled';
    const before = usernames.length - changed;
    const note = before > 0 ? `; ${before} were ${state} already` : '';
    await printLine(tool.stdout, `${changed} users ${state}${note}`);
  }
}
