import type { Command } from 'commander';
import { createClientAdmin } from '../../directory/client-admin';
import { createKeyRing } from '../../directory/sealing';
import { toSpan, withDatabase } from '../option-values';
import { printFields, printJson } from '../print';
import type { Tool } from '../tool';
import { type DatabaseOptions, withMongo } from '../with-mongo';

interface Options extends DatabaseOptions {
  /** Milliseconds. */
  readonly overlap: number;
}

const DAY = 86_400_000;

/** `client rotate`: a new secret, the old one goes on for a while. */
export function addClientRotate(parent: Command, tool: Tool): void {
  const command = parent
    .command('rotate')
    .description('give a client a new secret and print it, once')
    .argument('<clientId>')
    .option(
      '--overlap <span>',
      'how long the old secret keeps working, e.g. 30m, 24h, 0s (default: 24h)',
      toSpan,
    );
  withDatabase(command).action((clientId: string, options: Partial<Options>) =>
    rotate(clientId, { overlap: DAY, ...options }, tool),
  );
}

async function rotate(clientId: string, options: Options, tool: Tool): Promise<void> {
  const keyRing = createKeyRing(tool.settings.secretKeys());
  const { secret, oldEndsAt } = await withMongo(tool, options, (connection) =>
    createClientAdmin(connection, keyRing, Date.now).rotate(clientId, options.overlap),
  );
  const rotated = { clientId, secret, oldSecretEndsAt: oldEndsAt.toISOString() };
  if (options.json) await printJson(tool.stdout, rotated);
  else await printFields(tool.stdout, rotated);
  tool.stderr.write(
    'The secret is shown only now: give it to the client before the old one ends.\n',
  );
}
