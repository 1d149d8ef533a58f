import type { Command } from 'commander';
import { createClientAdmin } from '../../directory/client-admin';
import { createKeyRing } from '../../directory/sealing';
import { withDatabase } from '../option-values';
import { printFields, printJson } from '../print';
import type { Tool } from '../tool';
import { type DatabaseOptions, withMongo } from '../with-mongo';

interface Options extends DatabaseOptions {
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
  withDatabase(command).action((options: Options) => createClient(options, tool));
}

async function createClient(options: Options, tool: Tool): Promise<void> {
  const { id: clientId, systemCode } = options;
  const type = options.public ? 'PUBLIC' : 'CONFIDENTIAL';
  const keyRing = createKeyRing(options.public ? [] : tool.settings.secretKeys());
  const { secret } = await withMongo(tool, options, (connection) =>
    createClientAdmin(connection, keyRing, Date.now).create({ clientId, systemCode, type }),
  );
  const created = { clientId, systemCode, type, secret };
  if (options.json) await printJson(tool.stdout, created);
  else await printFields(tool.stdout, created);
  if (secret !== null) {
    tool.stderr.write('The secret is shown only now: keep it where the client can read it.\n');
  }
}
