import type { Command } from 'commander';
import { createClientAdmin } from '../../directory/client-admin';
import { createKeyRing } from '../../directory/sealing';
import { withOperator } from '../option-values';
import { printFields, printJson } from '../print';
import type { Tool } from '../tool';
import { type ChangeOptions, withTrail } from '../with-trail';

interface Options extends ChangeOptions {
  readonly id: string;
  readonly systemCode: string;
  readonly public?: boolean;
}

/** `client create`: the one moment at which a secret is shown. */
export function addClientCreate(parent: Command, tool: Tool): void {
  const command = parent
    .command('create')
    .description('create a client and print its secret, once')
    .requiredOption('--id <clientId>', 'what it sends as X-Client-Id')
    .requiredOption('--system-code <code>', 'the system that its matters belong to')
    .option('--public', 'a PUBLIC client, which has no secret and may not push');
  withOperator(command).action((options: Options) => createClient(options, tool));
}

async function createClient(options: Options, tool: Tool): Promise<void> {
  const { id: clientId, systemCode } = options;
  const type = options.public ? 'PUBLIC' : 'CONFIDENTIAL';
  const keyRing = createKeyRing(options.public ? [] : tool.settings.secretKeys());
  const details = { systemCode, type };
  const change = { command: 'client create', subject: clientId, clientId, details };
  const secret = await withTrail(tool, options, change, async (connection, tell) => {
    const admin = createClientAdmin(connection, keyRing, Date.now);
    const made = await admin.create({ clientId, systemCode, type });
    tell({ secretId: made.secretId });
    return made.secret;
  });
  const created = { clientId, systemCode, type, secret };
  if (options.json) await printJson(tool.stdout, created);
  else await printFields(tool.stdout, created);
  if (secret !== null) {
    tool.stderr.write('The secret is shown only now: keep it where the client can read it.\n');
  }
}
