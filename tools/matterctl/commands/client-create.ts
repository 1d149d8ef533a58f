import type { Command } from 'commander';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { keepSecret, type SecretOutOptions, withSecretOut } from '../client-secret';
import { usageFailure } from '../failure';
import { withOperator } from '../option-values';
import { note, printFields, printJson } from '../print';
import type { Tool } from '../tool';
import { type ChangeOptions, withTrail } from '../with-trail';

interface Options extends ChangeOptions, SecretOutOptions {
  readonly id: string;
  readonly systemCode: string;
  readonly public?: boolean;
}

/** `client create` creates a client and shows its secret, which cannot be shown again later. */
export function addClientCreate(parent: Command, tool: Tool): void {
  const command = parent
    .command('create')
    .description('create a client and print its secret, once')
    .requiredOption('--id <clientId>', 'what it sends as X-Client-Id')
    .requiredOption('--system-code <code>', 'the system that its matters belong to')
    .option('--public', 'a PUBLIC client, which has no secret and may not push');
  withOperator(withSecretOut(command)).action((options: Options) =>
    options.public ? createPublic(options, tool) : createConfidential(options, tool),
  );
}

async function createPublic(options: Options, tool: Tool): Promise<void> {
  if (options.secretOut !== undefined) {
    throw usageFailure('a PUBLIC client has no secret: leave --secret-out out');
  }
  await create(options, { type: 'PUBLIC', keys: [] }, tool);
  await print(options, { type: 'PUBLIC', secret: null }, tool);
}

async function createConfidential(options: Options, tool: Tool): Promise<void> {
  const type = 'CONFIDENTIAL';
  const keys = tool.settings.secretKeys();
  const { shown } = await keepSecret(options.secretOut, async () => {
    const secret = await create(options, { type, keys }, tool);
    if (secret === null) throw new Error('a CONFIDENTIAL client was given no secret');
    return { secret };
  });
  await print(options, { type, ...shown }, tool);
  if ('secret' in shown) {
    note(tool.stderr, 'The secret is shown only now: keep it where the client can read it.');
  }
}

/** Creates the client. @returns how its secret is shown; null for a PUBLIC client */
function create(
  options: Options,
  { type, keys }: { readonly type: 'PUBLIC' | 'CONFIDENTIAL'; readonly keys: readonly string[] },
  tool: Tool,
): Promise<string | null> {
  const { id: clientId, systemCode } = options;
  const keyRing = createKeyRing(keys);
  const details = { systemCode, type };
  const change = { command: 'client create', subject: clientId, clientId, details };
  return withTrail(tool, options, change, async (connection, recordResult) => {
    const { createClientAdmin } = await import('../../../src/storage/directory.js');
    const admin = createClientAdmin(connection, keyRing, Date.now);
    const made = await admin.create({ clientId, systemCode, type });
    recordResult({ secretId: made.secretId });
    return made.secret;
  });
}

async function print(
  { id: clientId, systemCode, json }: Options,
  secretFields: {
    readonly type: string;
    readonly secret?: string | null;
    readonly secretFile?: string;
  },
  { stdout }: Tool,
): Promise<void> {
  const created = { clientId, systemCode, ...secretFields };
  if (json) await printJson(stdout, created);
  else await printFields(stdout, created);
}
