import type { Command } from 'commander';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { usageFailure } from '../failure';
import { withOperator } from '../option-values';
import { printJson, printLine } from '../print';
import type { Tool } from '../tool';
import { type ChangeOptions, withTrail } from '../with-trail';

interface Options extends ChangeOptions {
  readonly all?: boolean;
}

/** `client revoke` makes query keys invalid within a second. The secrets of the client stay valid. */
export function addClientRevoke(parent: Command, tool: Tool): void {
  const command = parent
    .command('revoke')
    .description('end a query key of a client (those of "client console"), within a second')
    .argument('<clientId>', 'the client of the key')
    .argument('[keyId]', 'as "client list" shows it')
    .option('--all', 'all query keys of the client');
  withOperator(command).action((clientId: string, keyId: string | undefined, options: Options) =>
    revoke({ clientId, keyId }, options, tool),
  );
}

async function revoke(
  { clientId, keyId }: { readonly clientId: string; readonly keyId: string | undefined },
  options: Options,
  tool: Tool,
): Promise<void> {
  if ((keyId === undefined) === (options.all === undefined)) {
    throw usageFailure('give the id of a key, or --all');
  }
  const details = { secretId: keyId ?? 'all' };
  const change = { command: 'client revoke', subject: clientId, clientId, details };
  const revoked = await withTrail(tool, options, change, async (connection, recordResult) => {
    const { createClientAdmin } = await import('../../../src/storage/directory.js');
    const admin = createClientAdmin(connection, createKeyRing([]), Date.now);
    const ids = await admin.revokeQueryKeys(clientId, keyId);
    recordResult({ revoked: ids });
    return ids;
  });
  if (options.json) return printJson(tool.stdout, { clientId, revoked });
  const outcome =
    revoked.length > 0 ? `revoked ${revoked.join(', ')}` : 'none of them worked any more';
  await printLine(tool.stdout, `query keys of client ${clientId}: ${outcome}`);
}
