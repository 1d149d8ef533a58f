/** The options that say where a command reads: from the database, or as a client of the service. */
import type { Command } from 'commander';
import { readSecretFile } from '../client-secret';
import { CommandFailure, EXIT_USAGE } from '../failure';
import { toServiceUrl, withDatabase } from '../option-values';
import type { Tool } from '../tool';
import type { DatabaseOptions } from '../with-mongo';

/** Who asks the service. */
export interface Signer {
  /** Of the service. */
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
}

export interface SourceOptions extends DatabaseOptions {
  /** Of a client it must be the one that it belongs to. */
  readonly systemCode?: string | undefined;
  readonly url?: string;
  /** Who signs, where there is a secret; else the log commands narrow their search by it. */
  readonly clientId?: string;
  readonly secretFile?: string;
}

/** Commands that read, as an operator from the database or as a client through signed queries. */
export function withSource(command: Command): Command {
  withDatabase(command)
    .option(
      '--secret-file <file>',
      'ask the service, not the database: a file with the secret of --client-id, which signs',
    )
    .option('--url <url>', 'of the service (default: the running npm start)', toServiceUrl);
  // The log commands have it as a filter; there it is that without --secret-file.
  if (command.options.some(({ long }) => long === '--client-id')) return command;
  return command
    .option('--client-id <id>', 'who signs, with --secret-file')
    .hook('preAction', (run) => {
      const { clientId, secretFile } = run.opts<SourceOptions>();
      if (clientId !== undefined && secretFile === undefined)
        throw usage('--client-id needs --secret-file');
    });
}

/**
 * @returns who asks the service; undefined: the database is asked
 * @throws CommandFailure with exit code 2 where the options do not go together
 */
export async function signerOf(options: SourceOptions, tool: Tool): Promise<Signer | undefined> {
  const { url, clientId, secretFile, mongoUrl, mongoUrlFile } = options;
  if (url === undefined && secretFile === undefined) return undefined;
  if (mongoUrl !== undefined || mongoUrlFile !== undefined) {
    throw usage(
      'choose one: --mongo-url or --mongo-url-file read the database, --secret-file asks the service',
    );
  }
  if (secretFile === undefined) throw usage('--url needs --client-id and --secret-file: who signs');
  if (clientId === undefined) throw usage('--secret-file needs --client-id: whose secret it is');
  const secret = await readSecretFile(secretFile);
  return { url: url ?? tool.settings.serviceUrl(), clientId, secret };
}

const usage = (message: string) => new CommandFailure(message, EXIT_USAGE);
